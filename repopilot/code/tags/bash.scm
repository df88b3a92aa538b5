;; definitions
(function_definition name: (word) @name) @function
(program (variable_assignment name: (variable_name) @name) @variable)
(program (declaration_command (variable_assignment name: (variable_name) @name)) @variable)
;; references
(command_name (word) @call)
((command name: (command_name (word) @_trap) . argument: (word) @call) (#eq? @_trap "trap"))
(simple_expansion (variable_name) @use)
(expansion (variable_name) @use)
;; imports
((command name: (command_name (word) @_source)) @import (#match? @_source "^(source|\\.)$"))
