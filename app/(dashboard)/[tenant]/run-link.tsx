import { IdText } from '@/app/_ui/id-text'
import { Link } from '@/app/_ui/link'
import type { RunName } from '@/server/views/runs/run-names'
import { useTenant } from './tenant-context'

/** A link to a run by its business key; without one, the id distinguishes it from other runs of its workflow. */
export function RunLink({ runId, run }: { runId: string; run: RunName | null }) {
  const { path } = useTenant()
  return (
    <Link href={path(`/runs/${runId}`)}>
      {run?.name} {!run?.keyed && <IdText id={runId} copy={false} />}
    </Link>
  )
}
