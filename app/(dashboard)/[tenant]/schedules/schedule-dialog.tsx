'use client'
import { Autocomplete, Button, NativeSelect, Radio, Stack, Text, Textarea, TextInput } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { errorOf, useTRPC } from '@/app/_trpc/client'
import { Dialog, DialogButtons } from '@/app/_ui/dialog'
import { ErrorState } from '@/app/_ui/error-state'
import { Time } from '@/app/_ui/time'
import { CronError, isTimeZone, nextTimes, parseCron } from '@/server/definition/cron'
import { isJsonObject, type JsonObject } from '@/server/definition/json'
import type { ScheduleItem } from '@/server/views/schedules/browse'

const ZONES = ['UTC', ...Intl.supportedValuesOf('timeZone').filter((zone) => zone !== 'UTC')]

/** Creates a schedule, or changes one. The next times are shown as its fields are typed. */
export function ScheduleDialog({ schedule, onClose }: { schedule: ScheduleItem | null; onClose: () => void }) {
  const trpc = useTRPC()
  const queries = useQueryClient()
  const workflows = useQuery({ ...trpc.runs.workflows.queryOptions(), enabled: schedule === null })
  const [workflowId, setWorkflowId] = useState(schedule?.workflowId ?? '')
  const [name, setName] = useState(schedule?.name ?? '')
  const [cron, setCron] = useState(schedule?.cron ?? '0 9 * * mon-fri')
  const [timeZone, setTimeZone] = useState(
    schedule?.timeZone ?? Intl.DateTimeFormat().resolvedOptions().timeZone ?? 'UTC',
  )
  const [catchUp, setCatchUp] = useState<'skip' | 'once'>(schedule?.catchUp ?? 'skip')
  const first = JSON.stringify(schedule?.data ?? {}, null, 2)
  const [text, setText] = useState(first)
  const saved = {
    onSuccess: async () => {
      onClose()
      await queries.invalidateQueries(trpc.schedules.pathFilter())
    },
  }
  const create = useMutation(trpc.schedules.create.mutationOptions(saved))
  const update = useMutation(trpc.schedules.update.mutationOptions(saved))
  const { error, isPending } = schedule ? update : create
  const details = error ? errorOf(error).details : []
  const problem = (path: string) =>
    details.find((detail) => detail.path === path || detail.path?.startsWith(`${path}.`))
  const data = parsed(text)
  const shown = preview(cron, timeZone)
  function submit(event: FormEvent) {
    event.preventDefault()
    if (!data) return
    const plan = { name, cron, timeZone, catchUp }
    // Masked values must not replace the stored ones.
    if (schedule) {
      const body = text === first ? plan : { ...plan, data }
      update.mutate({ workflowId, scheduleId: schedule.id, body })
    } else create.mutate({ workflowId, body: { ...plan, data } })
  }
  const wrong = problem('data')
  return (
    <Dialog onClose={onClose} title={schedule ? `Edit ${schedule.name}` : 'Create a schedule'} size="lg">
      <form onSubmit={submit} noValidate>
        <Stack>
          {!schedule && (
            <NativeSelect
              label="Workflow"
              description="Its published version is started"
              withAsterisk
              data={[
                { value: '', label: 'Choose a workflow' },
                ...(workflows.data ?? []).map(({ id, name }) => ({ value: id, label: name })),
              ]}
              value={workflowId}
              onChange={(event) => setWorkflowId(event.currentTarget.value)}
              data-autofocus
            />
          )}
          <TextInput
            label="Name"
            placeholder="Every morning"
            withAsterisk
            maxLength={200}
            autoComplete="off"
            error={problem('name')?.message}
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          <TextInput
            label="Cron"
            description="Minute, hour, day, month, weekday"
            withAsterisk
            autoComplete="off"
            error={'reason' in shown && shown.of === 'cron' ? `It ${shown.reason}` : undefined}
            value={cron}
            onChange={(event) => setCron(event.currentTarget.value)}
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
                    <Time at={at} absolute />
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
          <Textarea
            label="START fields"
            description="As JSON"
            autosize
            minRows={3}
            maxRows={12}
            classNames={{ input: 'mono' }}
            error={data ? wrong && `${wrong.path} ${wrong.message}` : 'This must be a JSON object'}
            value={text}
            onChange={(event) => setText(event.currentTarget.value)}
          />
          {error && details.length === 0 && <ErrorState error={error} title="The schedule was not saved" />}
          <DialogButtons>
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button
              type="submit"
              loading={isPending}
              disabled={!workflowId || !name.trim() || !data || !('times' in shown)}
            >
              {schedule ? 'Save' : 'Create schedule'}
            </Button>
          </DialogButtons>
        </Stack>
      </form>
    </Dialog>
  )
}

function parsed(text: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text.trim() || '{}')
    return isJsonObject(value) ? value : null
  } catch {
    return null
  }
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
