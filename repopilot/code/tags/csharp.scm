;; definitions
(class_declaration name: (identifier) @name) @class
(interface_declaration name: (identifier) @name) @interface
(struct_declaration name: (identifier) @name) @struct
(record_declaration name: (identifier) @name) @class
(enum_declaration name: (identifier) @name) @enum
(delegate_declaration name: (identifier) @name) @type
(method_declaration name: (identifier) @name) @method
(constructor_declaration name: (identifier) @name) @method
(local_function_statement name: (identifier) @name) @function
(property_declaration name: (identifier) @name) @field
(event_declaration name: (identifier) @name) @field
(field_declaration (variable_declaration (variable_declarator name: (identifier) @name))) @field
(enum_member_declaration name: (identifier) @name) @field
(namespace_declaration name: (_) @name) @module
(record_declaration (parameter_list (parameter name: (identifier) @name) @field))
(event_field_declaration (variable_declaration (variable_declarator name: (identifier) @name))) @field
;; references
(invocation_expression function: (identifier) @call)
(invocation_expression function: (generic_name (identifier) @call))
(invocation_expression function: (member_access_expression name: (identifier) @call))
(invocation_expression function: (member_access_expression name: (generic_name (identifier) @call)))
(invocation_expression function: (conditional_access_expression (member_binding_expression name: (identifier) @call)))
(object_creation_expression type: (identifier) @call)
(object_creation_expression type: (generic_name (identifier) @call))
(object_creation_expression type: (qualified_name name: (identifier) @call))
(attribute name: (identifier) @call)
(base_list (identifier) @inherit)
(base_list (generic_name (identifier) @inherit))
(base_list (qualified_name name: (identifier) @inherit))
(base_list (primary_constructor_base_type type: (identifier) @inherit))
(member_access_expression name: (identifier) @member)
(identifier) @use
;; imports
(using_directive) @import
(namespace_declaration name: (_) @package)
(file_scoped_namespace_declaration name: (_) @package)
