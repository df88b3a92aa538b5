;; definitions
(function_declaration name: (identifier) @name) @function
(method_declaration receiver: (parameter_list (parameter_declaration type: [(type_identifier) @path (pointer_type (type_identifier) @path) (generic_type type: (type_identifier) @path) (pointer_type (generic_type type: (type_identifier) @path))])) name: (field_identifier) @name) @method
(type_declaration (type_spec name: (type_identifier) @name type: (struct_type)) @struct)
(type_declaration (type_spec name: (type_identifier) @name type: (interface_type)) @interface)
(type_declaration (type_spec name: (type_identifier) @name) @type)
(type_declaration . (type_spec name: (type_identifier) @name type: (struct_type)) .) @struct
(type_declaration . (type_spec name: (type_identifier) @name type: (interface_type)) .) @interface
(type_declaration . (type_spec name: (type_identifier) @name) .) @type
(type_declaration (type_alias name: (type_identifier) @name) @type)
(interface_type (method_elem name: (field_identifier) @name) @method)
(source_file (const_declaration (const_spec name: (identifier) @name) @variable))
(source_file (var_declaration (var_spec name: (identifier) @name) @variable))
(source_file (var_declaration (var_spec_list (var_spec name: (identifier) @name) @variable)))
(struct_type (field_declaration_list (field_declaration name: (field_identifier) @name) @field))
;; references
(call_expression function: (identifier) @call)
(call_expression function: (selector_expression field: (field_identifier) @call))
(call_expression function: (parenthesized_expression (identifier) @call))
(composite_literal type: (type_identifier) @call)
(composite_literal type: (qualified_type name: (type_identifier) @call))
(struct_type (field_declaration_list (field_declaration !name type: (type_identifier) @inherit)))
(struct_type (field_declaration_list (field_declaration !name type: (qualified_type name: (type_identifier) @inherit))))
(interface_type (type_elem (type_identifier) @inherit))
(selector_expression field: (field_identifier) @member)
(field_identifier) @use
(type_identifier) @use
(identifier) @use
;; imports
(import_spec) @import
(package_clause) @package
