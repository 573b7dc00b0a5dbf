// A caller in a thread of its own, so that its times exclude the work of the callers that generate the load. Plain
// JavaScript, because a thread starts without a loader for TypeScript.
import { setTimeout as sleep } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'

/** @type {{ url: string, headers: Record<string, string>, forMs: number }} */
const { url, headers, forMs } = workerData
/** @type {number[]} */
const times = []
/** @type {unknown[]} */
const failures = []
// The first is not timed: it loads the client and connects it.
await hello()
parentPort?.postMessage('ready')
for (const until = performance.now() + forMs; performance.now() < until; await sleep(50)) times.push(await hello())
parentPort?.postMessage({ times, failures })

/** @returns how long it took, in milliseconds */
async function hello() {
  const from = performance.now()
  const response = await fetch(url, { method: 'POST', headers, body: '{}' })
  const body = await response.json()
  const ms = performance.now() - from
  if (response.status !== 200 || body.status !== 'completed') failures.push({ status: response.status, body })
  return ms
}
