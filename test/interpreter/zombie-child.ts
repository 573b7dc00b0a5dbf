import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { startTestRuntime } from '../support/runtime'
import { holdAfter } from './gap'

/*
 * A separate process that is stopped by a signal: node --import tsx --conditions=react-server zombie-child.ts <database
 * url> <effect server url>. It starts a run of two effects and reports when the second one is about to begin.
 */
const [url = '', effects = ''] = process.argv.slice(2)
const runtime = await startTestRuntime(url, { MILLRACE_HOST_ID: 'zombie' })
const gap = await holdAfter('a')
const runId = await runtime.start({
  steps: [
    { id: 'a', type: 'test-effect', url: `${effects}a` },
    { id: 'b', type: 'test-effect', url: `${effects}b` },
    { id: 'end', type: 'end-flow' },
  ],
  edges: [
    { from: 'a', to: 'b' },
    { from: 'b', to: 'end' },
  ],
})
await gap.reached
const goOn = once(process, 'message')
process.send?.({ runId })
// By then the signal has stopped it and let it continue.
await goOn
gap.release()
// If the engine has noticed first that its claim is gone, the walk does not even reach the next step.
await Promise.race([gap.left, sleep(6_000)])
process.send?.({ left: true })
