;; definitions
((rule (targets (word) @name)) @function (#not-match? @name "^\\.[A-Z]|%"))
(makefile (variable_assignment name: (word) @name) @variable)
(makefile (export_directive (variable_assignment name: (word) @name)) @variable)
(define_directive name: (word) @name) @function
;; references
((prerequisites (word) @call) (#not-match? @call "%"))
(variable_reference (word) @use)
;; imports
(include_directive) @import
