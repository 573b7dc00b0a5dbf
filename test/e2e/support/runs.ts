import { setTimeout as sleep } from 'node:timers/promises'
import { createTRPCClient, httpLink } from '@trpc/client'
import type { JsonObject } from '@/server/definition/json'
import type { PresentedRun } from '@/server/runs/present'
import { getRunStatus } from '@/server/runs/status'
import type { AppRouter } from '@/server/trpc/root'
import { sessionCookie, type Workspace } from './workspace'

// The owner's actions on runs, through the service. This process has no engine: if it called the verbs itself, the next
// step would begin seconds later, with the service's sweep.

export async function startRun(by: Workspace, workflowId: string, data: JsonObject): Promise<string> {
  return (await (await dashboardOf(by)).runs.start.mutate({ workflowId, data })).runId
}

export async function resumeRun(by: Workspace, runId: string, body: JsonObject): Promise<void> {
  await (await dashboardOf(by)).runs.resume.mutate({ runId, body })
}

export async function cancelRun(by: Workspace, runId: string, reason: string): Promise<void> {
  await (await dashboardOf(by)).runs.cancel.mutate({ runId, reason })
}

/** Waits until a run has reached this state. */
export async function reached({ ctx }: Workspace, runId: string, so: (run: PresentedRun) => boolean): Promise<void> {
  for (const until = Date.now() + 30_000; ; await sleep(50)) {
    const run = await getRunStatus(ctx, { runId })
    if (so(run)) return
    if (Date.now() > until) throw new Error(`The run is still ${JSON.stringify(run)}`)
  }
}

const clients = new WeakMap<Workspace, ReturnType<typeof connect>>()

function dashboardOf(workspace: Workspace): ReturnType<typeof connect> {
  const client = clients.get(workspace) ?? connect(workspace)
  clients.set(workspace, client)
  return client
}

async function connect({ owner, slug }: Workspace) {
  const { name, value } = await sessionCookie(owner)
  const origin = process.env.BASE_URL ?? ''
  return createTRPCClient<AppRouter>({
    links: [
      httpLink({
        url: `${origin}/api/trpc?tenant=${slug}`,
        headers: { cookie: `${name}=${value}`, origin, 'sec-fetch-site': 'same-origin' },
        methodOverride: 'POST',
      }),
    ],
  })
}
