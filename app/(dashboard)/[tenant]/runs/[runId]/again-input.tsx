'use client'
import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useTRPC } from '@/app/_trpc/client'
import { Dialog } from '@/app/_ui/dialog'
import { ErrorState } from '@/app/_ui/error-state'
import { isJsonObject, type JsonObject, type JsonValue } from '@/server/definition/json'
import type { Fields } from '@/server/definition/schema'
import type { RunOverview } from '@/server/views/runs/overview'
import { AgainForm } from './again-form'
import { AgainStartForm } from './again-start-form'

/** Edits a run's input and starts a new run with it, using the START fields of the same version. */
export function AgainInput({ run, onClose }: { run: RunOverview; onClose: () => void }) {
  const trpc = useTRPC()
  const before = useQuery(trpc.runs.wholeValue.queryOptions({ of: 'run', runId: run.runId, field: 'input' }))
  // A step that runs alone has no START fields: its input replaces the results of earlier steps.
  const alone = run.part !== null && 'only' in run.part
  const { error, data, refetch } = useQuery({
    ...trpc.runs.definition.queryOptions({ runId: run.runId }),
    enabled: !alone,
    // The transport's types cannot express "any JSON".
    select: ({ definition }) => definition.payload as unknown as Fields,
  })
  const input = before.data?.value as JsonValue | undefined
  const version = run.versionNumber === null ? 'A draft' : `Version ${run.versionNumber}`
  const about = `${version} of ${run.workflowName}, from its first step`
  return (
    <Dialog onClose={onClose} title="Run again with another input" size="lg">
      {before.error ? (
        <ErrorState error={before.error} onRetry={() => before.refetch()} />
      ) : error ? (
        <ErrorState error={error} onRetry={() => refetch()} />
      ) : input === undefined || (!alone && !data) ? (
        <Skeleton height={160} radius="md" />
      ) : data && isJsonObject(input) ? (
        <AgainStartForm run={run} about={about} fields={data} before={declared(data, input)} onClose={onClose} />
      ) : (
        <AgainForm
          run={run}
          field={{ label: 'Input', description: about, text: JSON.stringify(input, null, 2) }}
          onClose={onClose}
        />
      )}
    </Dialog>
  )
}

/** Without the file id that a form was sent with: the new run keeps that file. */
function declared(fields: Fields, input: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(input).filter(([name]) => Object.hasOwn(fields, name)))
}
