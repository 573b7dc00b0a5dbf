import type { AgentConfig } from '../../agents/schema'
import { SCRIPTED_MODEL } from '../../models/schema'

/** Loaded into the first tenant, with fixed ids. They use the built-in model, so they need no key. */
export const SAMPLE_AGENTS: { id: string; config: AgentConfig }[] = [
  {
    id: 'agt_extract',
    config: {
      name: 'Extract a ticket',
      description: 'Reads a customer’s message and returns what it is about as data.',
      instructions:
        'You read messages from customers. Say in one sentence what the customer wants, which team should handle it, whether it is urgent, and where to reply.',
      model: SCRIPTED_MODEL,
      tools: [],
      outputSchema: {
        type: 'object',
        properties: {
          summary: { type: 'string', maxLength: 200, description: 'What the customer wants, in one sentence' },
          category: { type: 'string', enum: ['other', 'billing', 'technical', 'sales'] },
          urgent: { type: 'boolean', description: 'Whether it cannot wait until tomorrow' },
          email: { type: 'string', format: 'email', description: 'Where to reply, if they say so' },
        },
        required: ['summary', 'category', 'urgent'],
        additionalProperties: false,
      },
      supervisor: false,
      handoffs: [],
    },
  },
  {
    id: 'agt_invoice',
    config: {
      name: 'Extract an invoice',
      description: 'Reads the text of an invoice and returns what it says as data.',
      instructions:
        'You read invoices that were scanned. Say who sent it, what is to be paid and until when. Where a part of the text cannot be read, say that it is illegible rather than guess.',
      model: SCRIPTED_MODEL,
      tools: [],
      outputSchema: {
        type: 'object',
        properties: {
          supplier: { type: 'string', maxLength: 200, description: 'Who sent it' },
          total: { type: 'number', description: 'What is to be paid' },
          due: { type: 'string', format: 'date', description: 'Until when it is to be paid' },
          illegible: { type: 'boolean', description: 'Whether any part of it cannot be read' },
        },
        required: ['supplier', 'total', 'due', 'illegible'],
        additionalProperties: false,
      },
      supervisor: false,
      handoffs: [],
    },
  },
  {
    id: 'agt_refund',
    config: {
      name: 'Refund clerk',
      description: 'Refunds orders. Large refunds need the decision of a person.',
      instructions:
        'You refund orders of customers with the tool that refunds. Say how much was paid back: nothing, if the refund was not approved.',
      model: SCRIPTED_MODEL,
      tools: [
        {
          toolId: 'tool_refund',
          version: 'published',
          approval: {
            when: '${args.amount} > 100',
            title: 'Refund ${args.amount} for order ${args.orderId}',
            editable: ['amount'],
          },
        },
      ],
      outputSchema: {
        type: 'object',
        properties: { refunded: { type: 'number', description: 'What was paid back' } },
        required: ['refunded'],
        additionalProperties: false,
      },
      supervisor: false,
      handoffs: [],
    },
  },
  {
    id: 'agt_supervisor',
    config: {
      name: 'Front desk',
      description: 'Talks with customers and hands their requests to the right agents.',
      instructions:
        'You talk with customers. Hand every request to the agent that extracts tickets, then tell the customer in your own words what you understood.',
      model: SCRIPTED_MODEL,
      tools: [],
      outputSchema: null,
      supervisor: true,
      handoffs: [{ agentId: 'agt_extract', version: 'published' }],
    },
  },
]
