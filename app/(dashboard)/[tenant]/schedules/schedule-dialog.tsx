'use client'
import { Autocomplete, Button, Fieldset, Radio, Skeleton, Stack, Text, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { errorOf, useTRPC } from '@/app/_trpc/client'
import { Dialog, DialogButtons } from '@/app/_ui/dialog'
import { ErrorState } from '@/app/_ui/error-state'
import { underField } from '@/app/_ui/sentence'
import { CronError, isTimeZone, nextTimes, parseCron } from '@/lib/cron'
import { isRequired } from '@/server/definition/fields'
import type { Field } from '@/server/definition/schema'
import type { ScheduleItem } from '@/server/views/schedules/browse'
import { errorsByField } from '../inbox/answer/answer-values'
import { hiddenFields } from '../runs/[runId]/again-values'
import { StartData } from '../workflows/start-data'
import { firstDraft, readDraft, type StartDraft } from '../workflows/start-draft'
import { useStartFields } from '../workflows/use-start-fields'
import { WorkflowSelect } from '../workflows/workflow-select'
import { cronText } from './cron-text'
import { ScheduledTime } from './scheduled-time'
import { WhenFields } from './when-fields'

/** The problems of the START fields: by field, or of their JSON. */
type Wrong = { errors: Record<string, string>; problem: string | null }

const ZONES = ['UTC', ...Intl.supportedValuesOf('timeZone').filter((zone) => zone !== 'UTC')]

/** Creates or edits a schedule. The next times update as its fields are typed. */
export function ScheduleDialog({ schedule, onClose }: { schedule: ScheduleItem | null; onClose: () => void }) {
  const trpc = useTRPC()
  const queries = useQueryClient()
  const [workflowId, setWorkflowId] = useState(schedule?.workflowId ?? '')
  const [name, setName] = useState(schedule?.name ?? '')
  const [cron, setCron] = useState(schedule?.cron ?? '0 9 * * mon-fri')
  const [timeZone, setTimeZone] = useState(
    schedule?.timeZone ?? Intl.DateTimeFormat().resolvedOptions().timeZone ?? 'UTC',
  )
  const [catchUp, setCatchUp] = useState<'skip' | 'once'>(schedule?.catchUp ?? 'skip')
  const before = schedule?.data ?? null
  const fields = useStartFields(workflowId, { enabled: workflowId !== '' })
  // Unchanged until the user edits: the fields may load later and be refetched meanwhile.
  const [changed, setChanged] = useState<StartDraft | null>(null)
  const [wrong, setWrong] = useState<Wrong>({ errors: {}, problem: null })
  const saved = {
    onSuccess: async () => {
      await queries.invalidateQueries(trpc.schedules.pathFilter())
      onClose()
    },
    onError: (error: unknown) => {
      const { byField } = errorsByField(errorOf(error).details, fields.data ?? {})
      setWrong({ errors: byField, problem: null })
    },
  }
  const create = useMutation(trpc.schedules.create.mutationOptions(saved))
  const update = useMutation(trpc.schedules.update.mutationOptions(saved))
  const { error, isPending } = schedule ? update : create
  const details = error ? errorOf(error).details : []
  const badName = details.find(({ path }) => path === 'name')
  const others = details.filter((detail) => detail !== badName)
  const shown = preview(cron, timeZone)
  const words = 'times' in shown ? cronText(cron) : null
  const draft = fields.data && (changed ?? firstDraft(fields.data, before))
  // Errors that no field can show.
  const elsewhere = errorsByField(others, fields.data ?? {}).rest.length > 0
  function submit(event: FormEvent) {
    event.preventDefault()
    const plan = { name, cron, timeZone, catchUp }
    // Stored values stay unchanged, even where they are masked.
    if (schedule && changed === null) return update.mutate({ workflowId, scheduleId: schedule.id, body: plan })
    if (!fields.data || !draft) return
    const { data, ...read } = readDraft(fields.data, draft, before)
    setWrong(read)
    if (read.problem !== null || Object.keys(read.errors).length > 0) return
    const body = { ...plan, data }
    if (schedule) update.mutate({ workflowId, scheduleId: schedule.id, body })
    else create.mutate({ workflowId, body })
  }
  return (
    <Dialog onClose={onClose} title={schedule ? `Edit “${schedule.name}”` : 'New schedule'} size="lg">
      <form onSubmit={submit} noValidate>
        <Stack>
          {!schedule && (
            <WorkflowSelect
              value={workflowId}
              onChange={(id) => {
                setWorkflowId(id)
                setChanged(null)
                setWrong({ errors: {}, problem: null })
              }}
            />
          )}
          <TextInput
            label="Name"
            placeholder="Every morning"
            withAsterisk
            maxLength={200}
            autoComplete="off"
            error={badName && underField(badName.message)}
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          <WhenFields
            cron={cron}
            onChange={setCron}
            problem={'reason' in shown && shown.of === 'cron' ? `It ${shown.reason}` : undefined}
            words={words === null ? null : `${words}, ${timeZone}`}
          />
          <Autocomplete
            label="Time zone"
            withAsterisk
            limit={50}
            data={ZONES}
            error={'reason' in shown && shown.of === 'zone' ? shown.reason : undefined}
            value={timeZone}
            onChange={setTimeZone}
          />
          <Stack gap={2} aria-live="polite">
            <Text size="sm" fw={500}>
              Next times
            </Text>
            {'times' in shown
              ? shown.times.map((at) => (
                  <Text key={at} size="sm">
                    <ScheduledTime at={at} zone={timeZone} />
                  </Text>
                ))
              : 'None'}
          </Stack>
          <Radio.Group
            label="If the service was not running at that time"
            value={catchUp}
            onChange={(value) => setCatchUp(value === 'once' ? 'once' : 'skip')}
          >
            <Stack gap="xs" mt="xs">
              <Radio value="skip" label="Skip it" />
              <Radio value="once" label="Start once" description="One run for all times that were missed" />
            </Stack>
          </Radio.Group>
          {workflowId !== '' && (
            <Fieldset legend="START fields">
              {fields.error && <ErrorState error={fields.error} onRetry={() => void fields.refetch()} />}
              {fields.isPending && <Skeleton height={80} radius="md" />}
              {fields.data && draft && (
                <StartData
                  key={workflowId}
                  fields={fields.data}
                  before={before}
                  draft={draft}
                  onChange={setChanged}
                  errors={wrong.errors}
                  problem={wrong.problem}
                  hidden={hiddenFields(fields.data, before ?? {})}
                  focus={false}
                  fileNote={fileNote}
                />
              )}
            </Fieldset>
          )}
          {error && (details.length === 0 || elsewhere) && (
            <ErrorState error={error} title="The schedule was not saved" />
          )}
          <DialogButtons>
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button
              type="submit"
              loading={isPending}
              disabled={!workflowId || !name.trim() || !(schedule || draft) || !('times' in shown)}
            >
              {schedule ? 'Save' : 'Create schedule'}
            </Button>
          </DialogButtons>
        </Stack>
      </form>
    </Dialog>
  )
}

function fileNote(field: Field, given: boolean): string {
  if (given) return 'Each run gets the stored file that this schedule names.'
  return `A schedule cannot send a file${isRequired(field) ? ', so it cannot start a workflow that needs one' : ''}.`
}

function preview(cron: string, zone: string): { times: string[] } | { of: 'cron' | 'zone'; reason: string } {
  if (!isTimeZone(zone)) return { of: 'zone', reason: 'This must be a time zone such as Europe/Berlin' }
  try {
    return { times: nextTimes(parseCron(cron), zone, new Date(), 5).map((at) => at.toISOString()) }
  } catch (err) {
    if (err instanceof CronError) return { of: 'cron', reason: err.message }
    throw err
  }
}
