import { notifyError } from '@/app/_ui/notify'

/** A new tool, agent or workflow. */
export interface Created {
  id: string
  name: string
}

/** Creates something and publishes its first version. If only that fails, it stays a draft, and a notification says so. */
export async function createAndPublish<C extends Created>(
  create: () => Promise<C>,
  publish: ((created: C) => Promise<unknown>) | null,
): Promise<C> {
  const created = await create()
  await publish?.(created).catch((error: unknown) => notifyError(error, `“${created.name}” is not published yet`))
  return created
}
