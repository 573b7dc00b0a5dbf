/** Loaded into the first tenant, with fixed ids so that the documentation can refer to them. */
export const SAMPLE_TOOLS = [
  {
    id: 'tool_greet',
    name: 'Greet',
    description: 'Greets somebody by name.',
    code: 'return { greeting: `Hello, ${args.name}!` }',
  },
  {
    id: 'tool_add',
    name: 'Add',
    description: 'Adds two numbers: { a, b } to a number.',
    code: [
      "for (const name of ['a', 'b']) {",
      "  if (typeof args[name] !== 'number') throw new TypeError(`${name} must be a number`)",
      '}',
      'return args.a + args.b',
    ].join('\n'),
  },
  {
    id: 'tool_throws',
    name: 'Throws',
    description: 'Always fails, to show what a failing tool answers.',
    code: "throw new Error('This tool always fails.')",
  },
  {
    id: 'tool_route',
    name: 'Route a ticket',
    description: 'Chooses the team for a ticket: { ticket } to { team }.',
    code: "return { team: args.ticket.urgent ? 'on-call' : args.ticket.category }",
  },
] as const
