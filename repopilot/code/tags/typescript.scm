;; definitions
(class_declaration name: (_) @name) @class
(abstract_class_declaration name: (_) @name) @class
(interface_declaration name: (_) @name) @interface
(type_alias_declaration name: (_) @name) @type
(enum_declaration name: (_) @name) @enum
(internal_module name: (_) @name) @module
(function_declaration name: (identifier) @name) @function
(function_signature name: (identifier) @name) @function
(generator_function_declaration name: (identifier) @name) @function
(method_definition name: (_) @name) @method
(method_signature name: (_) @name) @method
(abstract_method_signature name: (_) @name) @method
(export_statement declaration: (_ name: (_) @name) @_inner) @export
(variable_declarator name: (identifier) @name value: [(arrow_function) (function_expression) (generator_function)]) @function
(variable_declarator name: (identifier) @name value: (class)) @class
(lexical_declaration . (variable_declarator name: (identifier) @name value: [(arrow_function) (function_expression)]) .) @function
(export_statement declaration: (lexical_declaration . (variable_declarator name: (identifier) @name value: [(arrow_function) (function_expression)]) .)) @function
(assignment_expression left: (member_expression property: (_) @name) @path right: [(arrow_function) (function_expression) (generator_function)]) @function
(expression_statement (assignment_expression left: (member_expression property: (_) @name) @path right: [(arrow_function) (function_expression) (generator_function)])) @function
(assignment_expression left: (member_expression property: (_) @name) @path right: (assignment_expression right: [(arrow_function) (function_expression)])) @variable
((assignment_expression left: (member_expression object: (_) @_module property: (property_identifier) @name) @path) @variable (#match? @_module "^(module[.])?exports$"))
(assignment_expression left: (identifier) @name right: [(arrow_function) (function_expression)]) @function
(pair key: (property_identifier) @name value: [(arrow_function) (function_expression)]) @function
(call_expression arguments: (arguments (function_expression name: (identifier) @name) @function))
(public_field_definition name: (_) @name value: (arrow_function)) @method
(public_field_definition name: (_) @name) @field
(program (lexical_declaration (variable_declarator name: (identifier) @name) @variable))
(program (variable_declaration (variable_declarator name: (identifier) @name) @variable))
(program (export_statement declaration: (lexical_declaration (variable_declarator name: (identifier) @name) @variable)))
(interface_body (property_signature name: (_) @name) @field)
(type_alias_declaration (object_type (property_signature name: (_) @name) @field))
(union_type (object_type (property_signature name: (_) @name) @field))
(intersection_type (object_type (property_signature name: (_) @name) @field))
(enum_body name: (property_identifier) @name @field)
(enum_assignment name: (property_identifier) @name) @field
(formal_parameters ([(required_parameter (accessibility_modifier) pattern: (identifier) @name) (optional_parameter (accessibility_modifier) pattern: (identifier) @name)]) @field)
(formal_parameters ([(required_parameter "readonly" pattern: (identifier) @name) (optional_parameter "readonly" pattern: (identifier) @name)]) @field)
;; references
(call_expression function: (identifier) @call)
(call_expression function: (member_expression property: (_) @call))
(new_expression constructor: (identifier) @call)
(new_expression constructor: (member_expression property: (_) @call))
(decorator (identifier) @call)
(decorator (call_expression function: (identifier) @call))
(extends_clause value: (identifier) @inherit)
(extends_clause value: (member_expression property: (_) @inherit))
(implements_clause (type_identifier) @inherit)
(implements_clause (generic_type name: (type_identifier) @inherit))
(extends_type_clause (type_identifier) @inherit)
(extends_type_clause (generic_type name: (type_identifier) @inherit))
(property_identifier) @member
(type_identifier) @use
(shorthand_property_identifier) @use
(identifier) @use
;; imports
(import_statement) @import
(export_statement source: (string)) @import
(export_statement "default") @export
(export_statement (export_clause) !source) @export
((call_expression function: [(identifier) (import)] @_callee arguments: (arguments . (string))) @import (#match? @_callee "^(require|import)$"))
