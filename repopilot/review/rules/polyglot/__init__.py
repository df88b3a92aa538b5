"""Rules over the syntax trees and text of other languages."""
