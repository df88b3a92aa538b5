;; definitions
(class_definition name: (identifier) @name) @class
(function_definition name: (identifier) @name) @function
(decorated_definition definition: (class_definition name: (identifier) @name)) @class
(decorated_definition definition: (function_definition name: (identifier) @name)) @function
(module (assignment left: (identifier) @name) @variable)
(module (expression_statement (assignment left: (identifier) @name) @variable))
(class_definition body: (block (assignment left: (identifier) @name) @field))
(class_definition body: (block (expression_statement (assignment left: (identifier) @name) @field)))
(type_alias_statement left: (type (identifier) @name)) @type
;; references
(call function: (identifier) @call)
(call function: (attribute attribute: (identifier) @call))
(decorator (identifier) @call)
(decorator (attribute attribute: (identifier) @call))
(class_definition superclasses: (argument_list (identifier) @inherit))
(class_definition superclasses: (argument_list (attribute attribute: (identifier) @inherit)))
(class_definition superclasses: (argument_list (subscript value: (identifier) @inherit)))
(class_definition superclasses: (argument_list (subscript value: (attribute attribute: (identifier) @inherit))))
(attribute attribute: (identifier) @member)
(identifier) @use
;; imports
(import_statement) @import
(import_from_statement) @import
