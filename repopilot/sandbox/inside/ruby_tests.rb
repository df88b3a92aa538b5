# Runs test files of Ruby with RSpec, Minitest or test-unit: ruby_tests.rb REPORT FILE...
# Every finished test becomes a line of JSON, the end a line, as in node_reporter.mjs.
require "json"

REPORT, *chosen = ARGV
ARGV.clear
specs = Dir["spec/**/*_spec.rb"]
FILES = chosen.any? ? chosen : specs.any? ? specs : Dir["test/**/{test_*,spec_*,*_test}.rb"]
LONGEST = 8000
ASSERTIONS = /Assertion|ExpectationNotMet|MultipleExpectations/

def told(file, name, outcome, seconds, error)
  message = error.is_a?(Exception) ? "#{ASSERTIONS.match?(error.class.name) ? "AssertionError" : error.class}: #{error.message}" : error&.to_s
  stack = error.respond_to?(:backtrace) && error.backtrace ? "#{message}\n" + error.backtrace.first(40).join("\n") : message
  line = { file: file, name: name, outcome: outcome, seconds: seconds, message: message, stack: stack }
  line.transform_values! { |value| value.is_a?(String) ? value.dup.force_encoding("UTF-8").scrub[0, LONGEST] : value }
  File.open(REPORT, "a") { |out| out.puts(JSON.generate(line)) }
end

at_exit { File.open(REPORT, "a") { |out| out.puts('{"end": true}') } }

# Bundler would look for the very versions of Gemfile.lock; what the system has is used instead.
$LOADED_FEATURES << "bundler/setup.rb"
module Kernel
  own = instance_method(:require)
  define_method(:require) { |name| %w[bundler bundler/setup].include?(name) ? false : own.bind_call(self, name) }
end

FOLDERS = %w[lib spec test].map { |each| File.expand_path(each) }
$LOAD_PATH.unshift(*FOLDERS.select { |each| Dir.exist?(each) })

def by_rspec
  require "rspec/core"
  reporter = Class.new do
    def initialize(_output) = nil

    { passed: "passed", failed: "failed", pending: "skipped" }.each do |event, outcome|
      define_method(:"example_#{event}") do |notice|
        example = notice.example
        result = example.execution_result
        told(example.file_path.delete_prefix("./"), example.full_description, outcome, result.run_time, result.exception)
      end
    end

    def message(notice) = warn(notice.message)
  end
  RSpec::Core::Formatters.register(reporter, :example_passed, :example_failed, :example_pending, :message)
  RSpec.configure { |config| config.add_formatter(reporter) }
  exit RSpec::Core::Runner.run(["--no-color", "--order", "defined", *FILES])
end

def by_minitest
  reporter = Class.new(Minitest::AbstractReporter) do
    def record(result)
      file = (result.source_location.first if result.respond_to?(:source_location)).to_s.delete_prefix("#{Dir.pwd}/")
      failure = result.failures.reject { |each| each.is_a?(Minitest::Skip) }.first
      outcome = failure ? "failed" : result.skipped? ? "skipped" : "passed"
      failure = failure.error if failure.respond_to?(:error)
      told(file, "#{result.klass}##{result.name}", outcome, result.time, failure)
    end
  end
  Minitest.singleton_class.send(:define_method, :plugin_told_init) { |_options| self.reporter << reporter.new }
  Minitest.extensions << "told"
end

def by_test_unit
  require "test/unit/ui/console/testrunner"
  Test::Unit::TestCase.prepend(Module.new do
    def run(result)
      began = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      super
      seconds = Process.clock_gettime(Process::CLOCK_MONOTONIC) - began
      fault = (result.failures + result.errors).find { |each| each.test_name == name }
      file = method(method_name).source_location.first.delete_prefix("#{Dir.pwd}/")
      skipped = (result.pendings + result.omissions).any? { |each| each.test_name == name }
      error = fault.respond_to?(:exception) ? fault.exception : fault&.message
      told(file, name, fault ? "failed" : skipped ? "skipped" : "passed", seconds, error)
    end
  end)
end

by_rspec if FILES.any? { |file| file.end_with?("_spec.rb") }
FILES.each { |file| require File.expand_path(file) }
if defined?(Minitest)
  by_minitest
  require "minitest/autorun"
elsif defined?(Test::Unit)
  by_test_unit
end
