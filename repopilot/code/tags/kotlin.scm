;; definitions
(class_declaration (type_identifier) @name) @class
(class_declaration "interface" (type_identifier) @name) @interface
(class_declaration "enum" (type_identifier) @name) @enum
(object_declaration (type_identifier) @name) @class
(companion_object (type_identifier) @name) @class
(function_declaration (simple_identifier) @name) @function
(type_alias (type_identifier) @name) @type
(class_body (property_declaration (variable_declaration (simple_identifier) @name)) @field)
(source_file (property_declaration (variable_declaration (simple_identifier) @name)) @variable)
(enum_entry (simple_identifier) @name) @field
(primary_constructor (class_parameter (binding_pattern_kind) (simple_identifier) @name) @field)
;; references
(call_expression . (simple_identifier) @call)
(call_expression . (navigation_expression (navigation_suffix (simple_identifier) @call) .))
(delegation_specifier (user_type (type_identifier) @inherit))
(delegation_specifier (constructor_invocation (user_type (type_identifier) @inherit)))
(annotation (user_type (type_identifier) @call))
(annotation (constructor_invocation (user_type (type_identifier) @call)))
(navigation_suffix (simple_identifier) @member)
(type_identifier) @use
(simple_identifier) @use
;; imports
(import_header) @import
(package_header) @package
