import type { JsonObject } from '../../definition/json'

interface SampleTool {
  id: string
  name: string
  description: string
  inputSchema: JsonObject
  outputSchema: JsonObject | null
  code: string
}

const text = (description: string) => ({ type: 'string', description })
const number = (description: string) => ({ type: 'number', description })
/** An object with exactly these names. */
const object = (properties: JsonObject) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
})

/** Loaded into the first tenant, with fixed ids so that the documentation can refer to them. */
export const SAMPLE_TOOLS: readonly SampleTool[] = [
  {
    id: 'tool_greet',
    name: 'Greet',
    description: 'Greets a person by name.',
    inputSchema: object({ name: text('Who is greeted') }),
    outputSchema: object({ greeting: text('A sentence such as “Hello, Ada!”') }),
    code: 'return { greeting: `Hello, ${args.name}!` }',
  },
  {
    id: 'tool_add',
    name: 'Add',
    description: 'Adds two numbers: { a, b } to a number.',
    inputSchema: object({ a: number('The first number'), b: number('The second number') }),
    outputSchema: { type: 'number', description: 'The sum' },
    code: 'return args.a + args.b',
  },
  {
    id: 'tool_throws',
    name: 'Throws',
    description: 'Always fails, to show what a failing tool returns.',
    inputSchema: { type: 'object', properties: {} },
    outputSchema: null,
    code: "throw new Error('This tool always fails.')",
  },
  {
    id: 'tool_route',
    name: 'Route a ticket',
    description: 'Chooses the team for a ticket: { ticket } to { team }.',
    inputSchema: object({
      ticket: {
        type: 'object',
        description: 'What an agent found in a message',
        properties: {
          category: text('The team that handles it, unless it is urgent'),
          urgent: { type: 'boolean', description: 'Whether it cannot wait until tomorrow' },
        },
        required: ['category', 'urgent'],
      },
    }),
    outputSchema: object({ team: text('The team that handles it') }),
    code: "return { team: args.ticket.urgent ? 'on-call' : args.ticket.category }",
  },
  {
    id: 'tool_refund',
    name: 'Refund an order',
    description: 'Stands for the system that pays: { orderId, amount } to { refunded }. No money is moved.',
    inputSchema: object({
      orderId: { ...text('The order’s number'), title: 'Order' },
      amount: { ...number('What the customer gets back'), title: 'Amount', exclusiveMinimum: 0 },
    }),
    outputSchema: object({ refunded: number('What was paid back') }),
    code: 'return { refunded: args.amount }',
  },
]
