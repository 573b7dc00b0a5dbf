'use client'
import { Button, Checkbox, Group, List, Progress, Radio, Skeleton, Stack, Text } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { TriangleAlert } from 'lucide-react'
import { useState } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { Dialog, DialogButtons } from '@/app/_ui/dialog'
import { ErrorState } from '@/app/_ui/error-state'
import { Link } from '@/app/_ui/link'
import { Notice } from '@/app/_ui/notice'
import { useOnce } from '@/app/_ui/use-once'
import type { ShownCause } from '@/server/views/runs/causes'
import { runsText } from '../runs-text'
import { useTenant } from '../tenant-context'
import { healedBy, repeating } from './heal-verdicts'
import { RefusedRuns } from './refused-runs'
import { useHeal } from './use-heal'

interface Props {
  workflowId: string
  /** The run whose cause is chosen first. */
  runId?: string
  onClose: () => void
}

/** Why runs of a workflow failed; whether its draft mends that; and their retry on the version that does. */
export function HealDialog({ workflowId, runId, onClose }: Props) {
  const trpc = useTRPC()
  const causes = useQuery(trpc.runs.causes.queryOptions({ workflowId, ...(runId ? { runId } : {}) }))
  const [chosen, setChosen] = useState<string | null>(null)
  const heal = useHeal(workflowId)
  const key = chosen ?? causes.data?.ofRun ?? causes.data?.causes[0]?.key
  const cause = causes.data?.causes.find((one) => one.key === key)
  const close = () => {
    heal.stop()
    onClose()
  }
  return (
    <Dialog onClose={close} title="Heal failed runs" size="lg" top>
      <Stack>
        {causes.error && <ErrorState error={causes.error} onRetry={() => causes.refetch()} />}
        {causes.isPending && <Skeleton height={120} radius="md" />}
        {causes.data?.causes.length === 0 && <Text size="sm">No failed run is left that nobody has retried.</Text>}
        {cause && (
          <Radio.Group
            label="Why they failed"
            value={cause.key}
            onChange={(value) => {
              heal.forget()
              setChosen(value)
            }}
          >
            <Stack gap="xs" mt="xs">
              {causes.data?.causes.map((one) => (
                <Radio
                  key={one.key}
                  value={one.key}
                  disabled={heal.working !== null || heal.retried !== null}
                  label={`${runsText(one.count)} at ${one.stepName ?? 'no step'}, ${versionOf(one)}`}
                  description={`${one.message} (${one.code})`}
                />
              ))}
            </Stack>
          </Radio.Group>
        )}
        {cause ? (
          <Remedy key={cause.key} workflowId={workflowId} cause={cause} heal={heal} onClose={close} />
        ) : (
          <DialogButtons>
            <Button variant="default" onClick={close}>
              Close
            </Button>
          </DialogButtons>
        )}
      </Stack>
    </Dialog>
  )
}

function versionOf({ number }: Pick<ShownCause, 'number'>): string {
  return number === null ? 'a draft' : `version ${number}`
}

type Heal = ReturnType<typeof useHeal>

function Remedy({ workflowId, cause, heal, onClose }: Props & { cause: ShownCause; heal: Heal }) {
  const trpc = useTRPC()
  const { may, path } = useTenant()
  const draft = useQuery(trpc.workflows.get.queryOptions({ id: workflowId }))
  const found = useQuery(trpc.runs.causeRuns.queryOptions({ workflowId, key: cause.key }))
  const publish = useMutation(trpc.workflows.publish.mutationOptions({ onSuccess: () => draft.refetch() }))
  const [unsure, setUnsure] = useState(false)
  const once = useOnce()
  const { tried, retried, working } = heal
  const runIds = found.data?.runIds ?? []
  const again = repeating(retried?.refused ?? [])
  const healed = tried && healedBy(tried.judged, cause.stepName ?? 'where they failed')
  const wanted = healed ? [...healed.passes, ...(unsure ? healed.unsure : [])] : runIds
  const published = draft.data?.publishedVersion ?? null
  const number = draft.data?.publishedNumber ?? null
  const hasDraft = draft.data !== undefined && draft.data.version !== published
  const isOther = published !== null && published !== cause.version
  const mayTry = may('workflow:write') && draft.data !== undefined && (hasDraft || isOther) && !tried
  const mayPublish = may('workflow:publish') && hasDraft && (tried !== null || !isOther)
  const mayRetry = isOther && !(hasDraft && tried !== null && tried.version !== published)
  return (
    <>
      {draft.error && <ErrorState error={draft.error} onRetry={() => draft.refetch()} />}
      {found.error && <ErrorState error={found.error} onRetry={() => found.refetch()} />}
      {draft.data && !hasDraft && !isOther && (
        <Text size="sm">
          They failed on the version that is published, and there is no draft that changes it.{' '}
          <Link href={path(`/workflows/${workflowId}`)}>Open the editor</Link> to mend it, then come back.
        </Text>
      )}
      {healed && !retried && (
        <div role="status">
          <List size="sm">
            {healed.lines.map((line) => (
              <List.Item key={line}>{line}</List.Item>
            ))}
          </List>
        </div>
      )}
      {healed && healed.unsure.length > 0 && !retried && (
        <Checkbox
          label={`Also retry the ${runsText(healed.unsure.length)} that only a retry can show`}
          checked={unsure}
          onChange={(event) => setUnsure(event.currentTarget.checked)}
          disabled={working !== null}
        />
      )}
      {working && (
        <Progress
          value={(100 * working.done) / Math.max(1, working.of)}
          aria-label={working.what === 'trying' ? 'Runs tried' : 'Runs retried'}
        />
      )}
      {retried && !working && (
        <Text size="sm" role="status">
          {runsText(retried.count)} {retried.count === 1 ? 'was' : 'were'} retried on version {number}.{' '}
          {retried.count > 0 && (
            <Link href={path(`/runs?${new URLSearchParams({ workflow: workflowId, version: String(published) })}`)}>
              Show {retried.count === 1 ? 'it' : 'them'}
            </Link>
          )}
        </Text>
      )}
      {retried && retried.refused.length > 0 && <RefusedRuns refused={retried.refused} />}
      {again.runIds.length > 0 && !working && (
        <Notice tone="warning" icon={TriangleAlert} title={`${again.stepIds.join(', ')} would run a second time`}>
          <Stack gap="sm" align="flex-start">
            <Text size="sm">
              {runsText(again.runIds.length)} completed {again.stepIds.length === 1 ? 'this step' : 'these steps'}{' '}
              before they failed, and version {number} has {again.stepIds.length === 1 ? 'it' : 'them'} after the step
              at which they continue. A payment or a mail would be sent twice.
            </Text>
            <Button
              color="red.8"
              onClick={() => void once(() => heal.retry(again.runIds, published ?? 0, { repeatCalls: true }))}
            >
              Retry {runsText(again.runIds.length)} and repeat the {again.stepIds.length === 1 ? 'call' : 'calls'}
            </Button>
          </Stack>
        </Notice>
      )}
      {publish.error ? <ErrorState error={publish.error} title="The draft was not published" /> : null}
      {heal.error ? <ErrorState error={heal.error} title="Not all runs were handled" /> : null}
      <DialogButtons>
        <Button variant="default" onClick={onClose}>
          {retried && !working ? 'Close' : working ? 'Stop' : 'Cancel'}
        </Button>
        {(!retried || heal.error !== null) && (
          <Group gap="sm">
            {mayTry && (
              <Button
                variant={isOther ? 'default' : 'filled'}
                loading={working?.what === 'trying'}
                disabled={runIds.length === 0 || working !== null}
                onClick={() => void once(() => heal.attempt(runIds, draft.data.version))}
              >
                {hasDraft ? 'Try the draft on these' : `Try v${number} on these`}
              </Button>
            )}
            {mayPublish && tried && (
              <Button
                loading={publish.isPending}
                onClick={() => publish.mutate({ id: workflowId, ifMatch: `"${tried.version}"` })}
              >
                Publish the draft
              </Button>
            )}
            {mayRetry && may('run:retry') && (
              <Button
                loading={working?.what === 'retrying'}
                disabled={wanted.length === 0 || working !== null}
                onClick={() => void once(() => heal.retry(wanted, published))}
              >
                {`Retry ${runsText(wanted.length)} on v${number}`}
              </Button>
            )}
          </Group>
        )}
      </DialogButtons>
    </>
  )
}
