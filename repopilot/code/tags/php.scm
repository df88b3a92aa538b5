;; definitions
(class_declaration name: (name) @name) @class
(interface_declaration name: (name) @name) @interface
(trait_declaration name: (name) @name) @trait
(enum_declaration name: (name) @name) @enum
(function_definition name: (name) @name) @function
(method_declaration name: (name) @name) @method
(property_declaration (property_element (variable_name (name) @name))) @field
(const_declaration (const_element (name) @name)) @field
(property_promotion_parameter name: (variable_name (name) @name)) @field
(enum_case name: (name) @name) @field
;; references
(function_call_expression function: (name) @call)
(function_call_expression function: (qualified_name (name) @call))
(member_call_expression name: (name) @call)
(nullsafe_member_call_expression name: (name) @call)
(scoped_call_expression name: (name) @call)
(object_creation_expression (name) @call)
(object_creation_expression (qualified_name (name) @call))
(attribute (name) @call)
(base_clause (name) @inherit)
(base_clause (qualified_name (name) @inherit))
(class_interface_clause (name) @inherit)
(class_interface_clause (qualified_name (name) @inherit))
(use_declaration (name) @inherit)
(member_access_expression name: (name) @member)
(class_constant_access_expression (name) @use)
(named_type (name) @use)
(scoped_call_expression scope: (name) @use)
;; imports
(namespace_use_declaration) @import
(namespace_definition name: (_) @package)
(require_expression) @import
(require_once_expression) @import
(include_expression) @import
(include_once_expression) @import
