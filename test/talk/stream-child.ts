import { openChat } from '@/server/talk/chat'
import { keyed } from '../support/keyed'
import { startTestRuntime } from '../support/runtime'

/*
 * A separate process that dies: node --import tsx --conditions=react-server stream-child.ts <database url> <agent> <key>.
 * It streams the answer to a message, and sends each event to its parent.
 */
const [url = '', agentId = '', outgoingKey = ''] = process.argv.slice(2)
const runtime = await startTestRuntime(url, { MILLRACE_HOST_ID: 'first', ALLOW_PRIVATE_HOSTS: '127.0.0.1' })
const never = new AbortController().signal
const source = await openChat(
  { ...runtime.ctx, keyed: keyed(outgoingKey) },
  { body: { agentId, message: 'x' }, lastEventId: null },
  never,
)
for await (const event of source?.(never) ?? []) process.send?.(event)
