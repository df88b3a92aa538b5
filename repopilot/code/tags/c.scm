;; definitions
(function_definition declarator: [(function_declarator declarator: (identifier) @name) (pointer_declarator declarator: (function_declarator declarator: (identifier) @name)) (pointer_declarator declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @name)))]) @function
(declaration declarator: [(function_declarator declarator: (identifier) @name) (pointer_declarator declarator: [(function_declarator declarator: (identifier) @name) (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))])]) @declaration
(translation_unit (declaration declarator: (init_declarator declarator: [(identifier) @name (array_declarator declarator: (identifier) @name) (pointer_declarator declarator: (identifier) @name)])) @variable)
(preproc_ifdef (declaration declarator: (init_declarator declarator: [(identifier) @name (array_declarator declarator: (identifier) @name) (pointer_declarator declarator: (identifier) @name)])) @variable)
(declaration_list (declaration declarator: (init_declarator declarator: [(identifier) @name (array_declarator declarator: (identifier) @name) (pointer_declarator declarator: (identifier) @name)])) @variable)
(type_definition declarator: (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (type_identifier) @name)))) @type
(type_definition declarator: [(pointer_declarator declarator: (type_identifier) @name) (array_declarator declarator: (type_identifier) @name)]) @type
(struct_specifier name: (type_identifier) @name body: (_)) @struct
(union_specifier name: (type_identifier) @name body: (_)) @struct
(enum_specifier name: (type_identifier) @name body: (_)) @enum
(type_definition declarator: (type_identifier) @name) @type
(preproc_def name: (identifier) @name) @macro
(preproc_function_def name: (identifier) @name) @macro
(translation_unit (declaration declarator: [(identifier) @name (array_declarator declarator: (identifier) @name) (pointer_declarator declarator: [(identifier) @name (pointer_declarator declarator: (identifier) @name) (array_declarator declarator: (identifier) @name)])]) @variable)
(preproc_ifdef (declaration declarator: [(identifier) @name (array_declarator declarator: (identifier) @name) (pointer_declarator declarator: [(identifier) @name (pointer_declarator declarator: (identifier) @name) (array_declarator declarator: (identifier) @name)])]) @variable)
(preproc_if (declaration declarator: [(identifier) @name (array_declarator declarator: (identifier) @name) (pointer_declarator declarator: [(identifier) @name (pointer_declarator declarator: (identifier) @name) (array_declarator declarator: (identifier) @name)])]) @variable)
(declaration_list (declaration declarator: [(identifier) @name (array_declarator declarator: (identifier) @name) (pointer_declarator declarator: [(identifier) @name (pointer_declarator declarator: (identifier) @name) (array_declarator declarator: (identifier) @name)])]) @variable)
(field_declaration declarator: [(field_identifier) @name (array_declarator declarator: (field_identifier) @name) (pointer_declarator declarator: [(field_identifier) @name (pointer_declarator declarator: (field_identifier) @name) (array_declarator declarator: (field_identifier) @name)]) (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (field_identifier) @name)))]) @field
(enumerator name: (identifier) @name) @variable
(type_definition type: (struct_specifier !name body: (_)) declarator: (type_identifier) @name) @struct
(type_definition type: (union_specifier !name body: (_)) declarator: (type_identifier) @name) @struct
(type_definition type: (enum_specifier !name body: (_)) declarator: (type_identifier) @name) @enum
;; references
(call_expression function: (identifier) @call)
(call_expression function: (field_expression field: (field_identifier) @call))
(field_identifier) @member
(type_identifier) @use
(identifier) @use
;; imports
(preproc_include) @import
