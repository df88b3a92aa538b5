;; definitions
(class name: (_) @name) @class
(module name: (_) @name) @module
(method name: (_) @name) @method
(singleton_method name: (_) @name) @method
(assignment left: (constant) @name) @variable
(alias name: (identifier) @name) @method
((call method: (identifier) @_defines arguments: (argument_list . (simple_symbol) @name)) @method (#match? @_defines "^(define_method|define_singleton_method|alias_method|scope)$"))
((call method: (identifier) @_reads arguments: (argument_list (simple_symbol) @name)) @field (#match? @_reads "^attr_(reader|writer|accessor)$"))
;; references
(call method: (identifier) @call)
(call method: (constant) @call)
(superclass (constant) @inherit)
(superclass (scope_resolution name: (constant) @inherit))
((call method: (identifier) @_include arguments: (argument_list (constant) @inherit)) (#match? @_include "^(include|extend|prepend)$"))
(constant) @use
(identifier) @use
;; imports
((call method: (identifier) @_require arguments: (argument_list (string))) @import (#match? @_require "^(require|require_relative|load|autoload)$"))
