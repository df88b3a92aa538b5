;; definitions
(function_definition declarator: (function_declarator declarator: [(identifier) (field_identifier) (qualified_identifier) (operator_name) (destructor_name)] @name)) @function
(function_definition declarator: (pointer_declarator declarator: (function_declarator declarator: [(identifier) (field_identifier) (qualified_identifier)] @name))) @function
(function_definition declarator: (reference_declarator (function_declarator declarator: [(identifier) (field_identifier) (qualified_identifier) (operator_name)] @name))) @function
(template_declaration (function_definition declarator: (function_declarator declarator: [(identifier) (field_identifier) (qualified_identifier) (operator_name)] @name))) @function
(declaration declarator: [(function_declarator declarator: (identifier) @name) (pointer_declarator declarator: [(function_declarator declarator: (identifier) @name) (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))]) (reference_declarator (function_declarator declarator: (identifier) @name))]) @declaration
(translation_unit (declaration declarator: (init_declarator declarator: [(identifier) @name (array_declarator declarator: (identifier) @name) (pointer_declarator declarator: (identifier) @name)])) @variable)
(preproc_ifdef (declaration declarator: (init_declarator declarator: [(identifier) @name (array_declarator declarator: (identifier) @name) (pointer_declarator declarator: (identifier) @name)])) @variable)
(declaration_list (declaration declarator: (init_declarator declarator: [(identifier) @name (array_declarator declarator: (identifier) @name) (pointer_declarator declarator: (identifier) @name)])) @variable)
(field_declaration declarator: (function_declarator declarator: (field_identifier) @name)) @declaration
(field_declaration declarator: (pointer_declarator declarator: (function_declarator declarator: (field_identifier) @name))) @declaration
(field_declaration declarator: (reference_declarator (function_declarator declarator: (field_identifier) @name))) @declaration
(class_specifier name: (_) @name body: (_)) @class
(struct_specifier name: (_) @name body: (_)) @struct
(template_declaration (class_specifier name: (_) @name body: (_))) @class
(template_declaration (struct_specifier name: (_) @name body: (_))) @struct
(union_specifier name: (_) @name body: (_)) @struct
(enum_specifier name: (_) @name body: (_)) @enum
(namespace_definition name: (_) @name) @module
(type_definition declarator: (type_identifier) @name) @type
(alias_declaration name: (type_identifier) @name) @type
(concept_definition name: (identifier) @name) @type
(preproc_def name: (identifier) @name) @macro
(preproc_function_def name: (identifier) @name) @macro
(translation_unit (declaration declarator: [(identifier) @name (array_declarator declarator: (identifier) @name) (pointer_declarator declarator: [(identifier) @name (pointer_declarator declarator: (identifier) @name) (array_declarator declarator: (identifier) @name)])]) @variable)
(preproc_ifdef (declaration declarator: [(identifier) @name (array_declarator declarator: (identifier) @name) (pointer_declarator declarator: [(identifier) @name (pointer_declarator declarator: (identifier) @name) (array_declarator declarator: (identifier) @name)])]) @variable)
(preproc_if (declaration declarator: [(identifier) @name (array_declarator declarator: (identifier) @name) (pointer_declarator declarator: [(identifier) @name (pointer_declarator declarator: (identifier) @name) (array_declarator declarator: (identifier) @name)])]) @variable)
(declaration_list (declaration declarator: [(identifier) @name (array_declarator declarator: (identifier) @name) (pointer_declarator declarator: [(identifier) @name (pointer_declarator declarator: (identifier) @name) (array_declarator declarator: (identifier) @name)])]) @variable)
(field_declaration declarator: [(field_identifier) @name (array_declarator declarator: (field_identifier) @name) (pointer_declarator declarator: [(field_identifier) @name (pointer_declarator declarator: (field_identifier) @name) (array_declarator declarator: (field_identifier) @name)]) (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (field_identifier) @name)))]) @field
(field_declaration declarator: (reference_declarator (field_identifier) @name)) @field
(enumerator name: (identifier) @name) @variable
(type_definition declarator: [(pointer_declarator declarator: (type_identifier) @name) (array_declarator declarator: (type_identifier) @name) (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (type_identifier) @name)))]) @type
(type_definition type: (struct_specifier !name body: (_)) declarator: (type_identifier) @name) @struct
(type_definition type: (union_specifier !name body: (_)) declarator: (type_identifier) @name) @struct
(type_definition type: (enum_specifier !name body: (_)) declarator: (type_identifier) @name) @enum
;; references
(call_expression function: (identifier) @call)
(call_expression function: (field_expression field: (field_identifier) @call))
(call_expression function: (qualified_identifier name: (identifier) @call))
(call_expression function: (qualified_identifier name: (qualified_identifier name: (identifier) @call)))
(call_expression function: (template_function name: (identifier) @call))
(new_expression type: (type_identifier) @call)
(base_class_clause (type_identifier) @inherit)
(base_class_clause (qualified_identifier name: (type_identifier) @inherit))
(base_class_clause (template_type name: (type_identifier) @inherit))
(field_identifier) @member
(namespace_identifier) @use
(type_identifier) @use
(identifier) @use
;; imports
(preproc_include) @import
