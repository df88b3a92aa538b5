;; definitions
((config_file (body (block . (identifier) @_kind . (string_lit (template_literal) @name) . (block_start)) @variable)) (#match? @_kind "^(variable|output|module|check)$"))
(config_file (body (block . (identifier) . (string_lit (template_literal) @path) . (string_lit (template_literal) @name) . (block_start)) @declaration))
((config_file (body (block . (identifier) @_kind (body (attribute (identifier) @name) @variable)))) (#eq? @_kind "locals"))
;; references
(get_attr (identifier) @member)
;; imports
