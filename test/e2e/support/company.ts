import { createAgent, publishAgent } from '@/server/agents/lifecycle'
import type { ServiceContext } from '@/server/context'
import { createApiKey } from '@/server/credentials/api-keys/create'
import { createSigningSecret } from '@/server/credentials/signing-secrets/create'
import { createInvitation } from '@/server/members/invitations/create'
import { createTool, publishTool } from '@/server/tools/lifecycle'
import { setVaultSecret } from '@/server/vault/set'
import { createWorkflow, publishWorkflow, updateWorkflow } from '@/server/workflows/lifecycle'

/** A company's definitions, by purpose. */
export interface Company {
  approval: string
  refund: string
  triage: string
  onboarding: string
  agent: string
  supervisor: string
  stock: string
  payments: string
  declined: string
  remote: string
  invitation: string
}

/** Wraps each text of the company. Specs of hostile texts insert another text. */
export type Say = (text: string) => string

/** The workflows, agents, tools, keys and secrets of an ordinary trading company. */
export async function newCompany(ctx: ServiceContext, say: Say = (text) => text): Promise<Company> {
  const tools = await newTools(ctx, say)
  const agents = await newAgents(ctx, say, tools.stock)
  const workflows = await newWorkflows(ctx, say, tools, agents.agent)
  await createApiKey(ctx, { name: say('Web shop'), role: 'operator' })
  await createApiKey(ctx, { name: say('Nightly export'), role: 'viewer' })
  await createSigningSecret(ctx, { name: say('Customer portal') })
  const hosts = ['payments.example.com', '*.eu.payments.example.com']
  await setVaultSecret(ctx, { name: 'PAYMENTS_TOKEN', value: 'not-a-real-token-9127', hosts })
  await setVaultSecret(ctx, { name: 'CATALOGUE_KEY', value: 'not-a-real-token-3380' })
  const { token } = await createInvitation(ctx, { email: 'katherine.johnson@northwind.example', role: 'editor' })
  return { ...tools, ...agents, ...workflows, invitation: token }
}

async function newTools(ctx: ServiceContext, say: Say) {
  const stock = await createTool(ctx, {
    name: say('Look up stock'),
    description: say('Says how many of an article are in the warehouse.'),
    kind: 'script',
    config: { code: "const left = args.article === 'AX-210' ? 12 : 3\nreturn { article: args.article, left }" },
    inputSchema: {
      type: 'object',
      properties: { article: { type: 'string', description: say('The number of the article') } },
      required: ['article'],
    },
  })
  const payments = await createTool(ctx, {
    name: say('Refund a payment'),
    description: say('Gives money back through the payment provider.'),
    kind: 'http',
    config: {
      method: 'POST',
      url: 'https://payments.example.com/v1/refunds',
      headers: { authorization: 'Bearer ${secrets.PAYMENTS_TOKEN}' },
      body: { order: '${args.order}', amount: '${args.amount}' },
    },
  })
  const remote = await createTool(ctx, {
    name: say('Search the catalogue'),
    description: say('Asks the catalogue’s MCP server.'),
    kind: 'mcp',
    config: { url: 'https://catalogue.example.com/mcp', toolName: 'search' },
  })
  const message = say('The payment provider declined: the card has expired.')
  const declined = await createTool(ctx, {
    name: say('Pay back'),
    description: say('Asks the payment provider for a refund.'),
    kind: 'script',
    config: { code: `console.log('asking the provider')\nthrow new Error(${JSON.stringify(message)})` },
  })
  for (const { id } of [stock, payments, declined]) await publishTool(ctx, { id })
  return { stock: stock.id, payments: payments.id, declined: declined.id, remote: remote.id }
}

async function newAgents(ctx: ServiceContext, say: Say, stock: string) {
  const agent = await createAgent(ctx, {
    name: say('Ticket reader'),
    description: say('Reads a message of a customer and says what it is about, as data.'),
    instructions: say('Say in one sentence what the customer wants, which team it concerns and whether it is urgent.'),
    tools: [stock],
    outputSchema: {
      type: 'object',
      properties: {
        summary: { type: 'string', maxLength: 200, description: say('What the customer wants') },
        team: { type: 'string', enum: ['billing', 'delivery', 'sales'] },
        urgent: { type: 'boolean' },
      },
      required: ['summary', 'team', 'urgent'],
      additionalProperties: false,
    },
  })
  await publishAgent(ctx, { id: agent.id })
  const supervisor = await createAgent(ctx, {
    name: say('Front desk'),
    description: say('Speaks with customers and hands their requests on.'),
    instructions: say('Hand every request to the agent that reads tickets.'),
    supervisor: true,
    handoffs: [agent.id],
  })
  await publishAgent(ctx, { id: supervisor.id })
  return { agent: agent.id, supervisor: supervisor.id }
}

interface Parts {
  stock: string
  declined: string
}

async function newWorkflows(ctx: ServiceContext, say: Say, { stock, declined }: Parts, agent: string) {
  const approval = await createWorkflow(ctx, approvalOf(say, stock))
  await publishWorkflow(ctx, { id: approval.id })
  await updateWorkflow(ctx, {
    id: approval.id,
    body: { description: say('Collects an order, looks up the stock and asks a manager.') },
  })
  const refund = await createWorkflow(ctx, {
    name: say('Refund'),
    description: say('Gives a customer the money back.'),
    payload: {
      order: { type: 'string', label: say('Order'), description: say('Number of the order') },
      amount: { type: 'number', label: say('Amount') },
      iban: {
        ...{ type: 'string', label: say('IBAN'), description: say('Account of the customer') },
        ...{ sensitive: true, required: false },
      },
    },
    businessKey: '${order}',
    steps: [
      {
        id: 'pay_back',
        type: 'call-tool',
        name: say('Pay back'),
        toolId: declined,
        args: { order: '${order}', amount: '${amount}' },
      },
      { id: 'done', type: 'end-flow', name: say('Refunded'), output: { order: '${order}' } },
    ],
    edges: [{ from: 'pay_back', to: 'done' }],
  })
  await publishWorkflow(ctx, { id: refund.id })
  const triage = await createWorkflow(ctx, {
    name: say('Ticket triage'),
    description: say('An agent reads what a customer wrote.'),
    payload: { text: { type: 'string', description: say('What the customer wrote') } },
    steps: [
      {
        id: 'read',
        type: 'call-agent',
        name: say('Read the message'),
        agentId: agent,
        version: 'published',
        message: '${text}',
        saveAs: 'ticket',
      },
      { id: 'done', type: 'end-flow', name: say('Sorted'), output: { ticket: '${ticket}' } },
    ],
    edges: [{ from: 'read', to: 'done' }],
  })
  await publishWorkflow(ctx, { id: triage.id })
  const onboarding = await createWorkflow(ctx, {
    name: say('Supplier onboarding'),
    description: say('Asks a new supplier for papers.'),
    steps: [
      {
        id: 'papers',
        type: 'collect-inputs',
        name: say('Papers'),
        output: { company: { type: 'string', description: say('Name of the company') } },
      },
    ],
  })
  return { approval: approval.id, refund: refund.id, triage: triage.id, onboarding: onboarding.id }
}

function approvalOf(say: Say, stock: string) {
  return {
    name: say('Purchase approval'),
    description: say('Collects an order and asks a manager.'),
    initialStep: 'order',
    payload: { customer: { type: 'string', label: say('Customer'), description: say('Who orders') } },
    businessKey: '${customer}',
    steps: [
      {
        id: 'order',
        type: 'collect-inputs',
        name: say('The order'),
        message: say('Which article does ${customer} want, and how many of it?'),
        output: {
          article: { type: 'string', label: say('Article'), description: say('The number in the catalogue') },
          amount: { type: 'number', label: say('Quantity'), description: say('How many pieces') },
        },
      },
      {
        id: 'stock',
        type: 'call-tool',
        name: say('Look up stock'),
        toolId: stock,
        args: { article: '${article}' },
        saveAs: 'stock',
      },
      {
        id: 'decision',
        type: 'request-user-action',
        name: say('The decision'),
        title: say('Order of ${article}'),
        message: say('May ${customer} have ${amount} of ${article}?'),
        show: [
          { label: say('Customer'), value: '${customer}' },
          { label: say('Article'), value: '${article}' },
          { label: say('Quantity'), value: '${amount}' },
          { label: say('In stock'), value: '${stock.left}' },
        ],
        actions: [
          { id: 'approve', label: say('Approve') },
          { id: 'reject', label: say('Reject') },
        ],
      },
      {
        id: 'done',
        type: 'end-flow',
        name: say('Order placed'),
        output: { article: '${article}', amount: '${amount}' },
      },
      {
        id: 'turned_down',
        type: 'end-flow',
        name: say('Turned down'),
        output: { article: '${article}' },
      },
    ],
    edges: [
      { from: 'order', to: 'stock' },
      { from: 'stock', to: 'decision' },
      { from: 'decision', to: 'done', on: 'approve' },
      { from: 'decision', to: 'turned_down', on: 'reject' },
    ],
  }
}
