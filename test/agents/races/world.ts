import { systemContext } from '@/server/context'
import { log } from '@/server/log'
import { createMember } from '@/server/members/create'
import { Browser } from '../../auth/browser'
import { type Outside, startOutside } from '../../net/outside'
import { type Answer, call, TEST_ENV } from '../../support/api'
import { type FreshDatabase, freshDatabase } from '../../support/db'
import { type ModelServer, startModelServer } from '../../support/model'
import { startWeb, type Web } from '../../support/service'
import { withRole } from '../../support/tenant'

/** How long an answer in the inbox is held. */
export const UNDO_MS = 400
/** The amount that the model wants to pay, by the place of the call. */
export const amountOf = (index: number) => 100 + index

/** The policies of the calls. */
export const KINDS = {
  plain: {},
  edited: { editable: ['amount'] },
  voted: { needs: { approve: 2, reject: 2 } },
  expires: { editable: ['amount'], expiresIn: 'PT1.5S' },
  fails: { expiresIn: 'PT1.5S', onExpiry: 'fail' },
} as const
export type Kind = keyof typeof KINDS

export interface Member {
  id: string
  browser: Browser
}

/** A call that arrived at the tool. */
export interface Paid {
  key: string
  at: number
  args: { n: number; amount: number }
}

/** Two web processes on one database, whose agents ask about their calls, and the members who decide. */
export interface RaceWorld {
  database: FreshDatabase
  webs: Web[]
  members: Member[]
  paid: Paid[]
  /** Workflows by kind. A run's `count` says how many calls the agent makes. */
  workflows: Record<Kind, string>
  rest(at: number, method: string, path: string, body?: object): Promise<Answer>
  /** A call of the dashboard by a member, or of a page without one. */
  screen(at: number, procedure: string, input: object, member?: Member): Promise<Answer>
  close(): Promise<void>
}

export async function startRaceWorld(): Promise<RaceWorld> {
  const database = await freshDatabase({ max: 5 })
  const paid: Paid[] = []
  const outside = await startOutside(async ({ headers, body }, response) => {
    paid.push({ key: String(headers['idempotency-key']), at: Date.now(), args: JSON.parse(body) })
    response.setHeader('content-type', 'application/json').end('{"ok":true}')
  })
  const model = await startModelServer()
  const env = {
    ...TEST_ENV,
    ALLOW_PRIVATE_HOSTS: '127.0.0.1',
    ANSWER_UNDO_MS: String(UNDO_MS),
    ENCRYPTION_KEY: 'ab'.repeat(32),
    NEXTAUTH_SECRET: 'the secret of both processes',
  }
  const first = await startWeb({ databaseUrl: database.url, env })
  const { tenantId, apiKey } = first
  const webs = [first, await startWeb({ databaseUrl: database.url, env, tenantId, apiKey })]
  const [tenant] = await database.sql`select slug from tenants where id = ${tenantId}`
  const web = (at: number) => webs[at % webs.length] ?? first
  const rest: RaceWorld['rest'] = (at, method, path, body) => call(web(at), method, path, body)
  return {
    ...{ database, webs, paid, rest },
    members: await membersOf(database, first),
    workflows: await publishAll(rest, model, outside),
    screen: (at, procedure, input, member) => onScreen(web(at), procedure, input, tenant?.slug, member),
    async close() {
      await Promise.all(webs.map((one) => one.stop()))
      await outside.stop()
      await model.close()
      await database.close()
    },
  }
}

async function membersOf(database: FreshDatabase, { tenantId, url }: Web): Promise<Member[]> {
  Object.assign(process.env, { DATABASE_URL: database.url, LOG_LEVEL: 'fatal', ENCRYPTION_KEY: 'ab'.repeat(32) })
  const ctx = withRole(systemContext({ tenantId, db: database.db, log: log() }), 'owner')
  const members: Member[] = []
  for (const name of ['Ada', 'Bob', 'Cleo']) {
    const [email, password] = [`${name.toLowerCase()}@example.com`, 'a-long-password']
    const { userId } = await createMember(ctx, { email, name, role: 'operator', password })
    const browser = new Browser((request) => fetch(request), url, '127.0.0.1')
    const { status } = await browser.signIn(email, password)
    if (status !== 200) throw new Error(`${name} could not sign in: ${status}`)
    members.push({ id: userId, browser })
  }
  return members
}

async function publishAll(rest: RaceWorld['rest'], model: ModelServer, outside: Outside) {
  const created = async (path: string, body: object) => {
    const { status, body: made } = await rest(0, 'POST', path, body)
    if (status >= 300) throw new Error(`${path}: ${JSON.stringify(made)}`)
    return made.id as string
  }
  const toolId = await created('/api/tools', {
    name: 'Pay',
    kind: 'http',
    config: { method: 'POST', url: `${outside.url}/pay`, body: '${args}' },
    inputSchema: {
      type: 'object',
      properties: { n: { type: 'integer' }, amount: { type: 'number', maximum: 10_000_000 } },
      required: ['n', 'amount'],
    },
  })
  const wish = (n: number) => ({ name: toolId, args: { n, amount: amountOf(n), approval_reason: 'Because.' }, id: 'c' })
  model.answer(({ body }) => {
    const said: { role: string }[] = body.messages
    if (said.some(({ role }) => role === 'assistant')) return { text: '{"paid":true}' }
    const count = Number(/pay (\d)/.exec(JSON.stringify(said))?.[1])
    return { calls: Array.from({ length: count }, (_, n) => wish(n)) }
  })
  const workflow = async (kind: Kind) => {
    const agentId = await created('/api/agents', {
      name: kind,
      instructions: 'Pay.',
      model: { provider: 'openai-compatible', modelId: 'm', baseUrl: model.url },
      tools: [{ toolId, version: 'latest', approval: KINDS[kind] }],
      outputSchema: { type: 'object', properties: { paid: { type: 'boolean' } }, required: ['paid'] },
    })
    const steps = [
      { id: 'ask', type: 'call-agent', agentId, message: 'pay ${count}' },
      { id: 'end', type: 'end-flow' },
    ]
    const id = await created('/api/workflows', {
      ...{ name: kind, payload: { count: { type: 'number' } } },
      ...{ steps, edges: [{ from: 'ask', to: 'end' }] },
    })
    await rest(0, 'POST', `/api/workflows/${id}/publish`, {})
    return [kind, id] as const
  }
  const made: (readonly [Kind, string])[] = []
  for (const kind of Object.keys(KINDS) as Kind[]) made.push(await workflow(kind))
  return Object.fromEntries(made) as Record<Kind, string>
}

async function onScreen(web: Web, procedure: string, input: object, slug: unknown, member?: Member): Promise<Answer> {
  const headers = member?.browser.headers() ?? new Headers()
  headers.delete('host')
  headers.set('content-type', 'application/json')
  headers.set('sec-fetch-site', 'same-origin')
  const url = `${web.url}/api/trpc/${procedure}${member ? `?tenant=${slug}` : ''}`
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(input) })
  return { status: response.status, headers: response.headers, body: await response.json() }
}
