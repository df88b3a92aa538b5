;; definitions
(class_declaration name: (type_identifier) @name) @class
(class_declaration declaration_kind: "struct" name: (type_identifier) @name) @struct
(class_declaration declaration_kind: "enum" name: (type_identifier) @name) @enum
(class_declaration name: (user_type (type_identifier) @name)) @impl
(protocol_declaration name: (type_identifier) @name) @interface
(function_declaration name: (simple_identifier) @name) @function
(protocol_function_declaration name: (simple_identifier) @name) @function
(init_declaration name: _ @name) @method
(typealias_declaration name: (type_identifier) @name) @type
(class_body (property_declaration name: (pattern (simple_identifier) @name)) @field)
(source_file (property_declaration name: (pattern (simple_identifier) @name)) @variable)
(enum_entry name: (simple_identifier) @name) @field
(protocol_property_declaration name: (pattern (simple_identifier) @name)) @field
;; references
(call_expression . (simple_identifier) @call)
(call_expression . (navigation_expression suffix: (navigation_suffix suffix: (simple_identifier) @call)))
(inheritance_specifier inherits_from: (user_type (type_identifier) @inherit))
(attribute (user_type (type_identifier) @call))
(navigation_suffix suffix: (simple_identifier) @member)
(type_identifier) @use
(simple_identifier) @use
;; imports
(import_declaration) @import
