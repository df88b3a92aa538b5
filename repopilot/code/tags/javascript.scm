;; definitions
(class_declaration name: (_) @name) @class
(function_declaration name: (identifier) @name) @function
(generator_function_declaration name: (identifier) @name) @function
(method_definition name: (_) @name) @method
(export_statement declaration: (class_declaration name: (_) @name)) @class
(export_statement declaration: (function_declaration name: (identifier) @name)) @function
(export_statement declaration: (generator_function_declaration name: (identifier) @name)) @function
(variable_declarator name: (identifier) @name value: [(arrow_function) (function_expression) (generator_function)]) @function
(variable_declarator name: (identifier) @name value: (class)) @class
(lexical_declaration . (variable_declarator name: (identifier) @name value: [(arrow_function) (function_expression)]) .) @function
(variable_declaration . (variable_declarator name: (identifier) @name value: [(arrow_function) (function_expression)]) .) @function
(export_statement declaration: (lexical_declaration . (variable_declarator name: (identifier) @name value: [(arrow_function) (function_expression)]) .)) @function
(assignment_expression left: (member_expression property: (_) @name) @path right: [(arrow_function) (function_expression) (generator_function)]) @function
(expression_statement (assignment_expression left: (member_expression property: (_) @name) @path right: [(arrow_function) (function_expression) (generator_function)])) @function
(assignment_expression left: (member_expression property: (_) @name) @path right: (class)) @class
(assignment_expression left: (member_expression property: (_) @name) @path right: (assignment_expression right: [(arrow_function) (function_expression)])) @variable
((assignment_expression left: (member_expression object: (_) @_module property: (property_identifier) @name) @path) @variable (#match? @_module "^(module[.])?exports$"))
(assignment_expression left: (identifier) @name right: [(arrow_function) (function_expression)]) @function
(pair key: (property_identifier) @name value: [(arrow_function) (function_expression)]) @function
(call_expression arguments: (arguments (function_expression name: (identifier) @name) @function))
(field_definition property: (_) @name value: (arrow_function)) @method
(program (lexical_declaration (variable_declarator name: (identifier) @name) @variable))
(program (variable_declaration (variable_declarator name: (identifier) @name) @variable))
(program (export_statement declaration: (lexical_declaration (variable_declarator name: (identifier) @name) @variable)))
(field_definition property: (_) @name) @field
;; references
(call_expression function: (identifier) @call)
(call_expression function: (member_expression property: (_) @call))
(new_expression constructor: (identifier) @call)
(new_expression constructor: (member_expression property: (_) @call))
(class_heritage (identifier) @inherit)
(class_heritage (member_expression property: (_) @inherit))
(property_identifier) @member
(shorthand_property_identifier) @use
(identifier) @use
;; imports
(import_statement) @import
(export_statement source: (string)) @import
(export_statement "default") @export
(export_statement (export_clause) !source) @export
((call_expression function: [(identifier) (import)] @_callee arguments: (arguments . (string))) @import (#match? @_callee "^(require|import)$"))
