package main

import "fmt"

const Port = 80

type Server struct {
	Name string `json:"name"`
}

func (s *Server) Run(port int) error {
	fmt.Println("run", port)
	return nil
}
