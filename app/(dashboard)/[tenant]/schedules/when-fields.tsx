'use client'
import { Chip, Group, NativeSelect, NumberInput, Stack, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { TextButton } from '@/app/_ui/text-button'
import { cronOf, HOURLY, planOf, type SimplePlan, WEEKDAYS, type Weekday } from './simple-plan'

const KINDS = [
  { value: 'day', label: 'Every day' },
  { value: 'weekday', label: 'Every weekday (Monday to Friday)' },
  { value: 'chosen', label: 'On chosen days of the week' },
  { value: 'month', label: 'Every month' },
  { value: 'hours', label: 'Every few hours' },
] as const
const DAY_NAMES: Record<Weekday, string> = {
  ...{ mon: 'Monday', tue: 'Tuesday', wed: 'Wednesday', thu: 'Thursday', fri: 'Friday' },
  ...{ sat: 'Saturday', sun: 'Sunday' },
}

/**
 * When a schedule starts its workflow: in everyday terms, or as cron behind *Advanced*. A cron that the terms cannot
 * express opens as cron.
 * @param props.words the cron in words, or null
 */
export function WhenFields(props: {
  cron: string
  onChange: (cron: string) => void
  problem: string | undefined
  words: string | null
}) {
  const { cron, onChange, problem, words } = props
  const [plan, setPlan] = useState(() => planOf(cron))
  const readable = plan ?? planOf(cron)
  const change = (next: SimplePlan) => {
    setPlan(next)
    onChange(cronOf(next) ?? '')
  }
  const said = (
    <Text size="sm" aria-live="polite">
      {words}
    </Text>
  )
  if (plan === null) {
    return (
      <Stack gap={4}>
        <TextInput
          label="Cron"
          description="Minute, hour, day, month, weekday"
          withAsterisk
          autoComplete="off"
          error={problem}
          value={cron}
          onChange={(event) => onChange(event.currentTarget.value)}
        />
        {said}
        {readable ? (
          <TextButton onClick={() => setPlan(readable)}>Choose days and a time</TextButton>
        ) : (
          <Text size="sm" c="dimmed">
            Only a cron can say this.{' '}
            <TextButton onClick={() => change({ every: 'weekday', at: '09:00' })}>
              Replace it by days and a time
            </TextButton>
          </Text>
        )}
      </Stack>
    )
  }
  return (
    <Stack gap="xs">
      <NativeSelect
        label="Starts"
        data={[...KINDS]}
        value={plan.every}
        onChange={(event) => change(withKind(plan, event.currentTarget.value as SimplePlan['every']))}
      />
      <Details plan={plan} onChange={change} />
      {said}
      <TextButton onClick={() => setPlan(null)}>Advanced: write a cron</TextButton>
    </Stack>
  )
}

function Details({ plan, onChange }: { plan: SimplePlan; onChange: (plan: SimplePlan) => void }) {
  if (plan.every === 'hours') {
    return (
      <Group grow align="flex-start">
        <NativeSelect
          label="How often"
          data={HOURLY.map((hours) => ({
            value: String(hours),
            label: hours === 1 ? 'Every hour' : `Every ${hours} hours`,
          }))}
          value={String(plan.hours)}
          onChange={(event) => {
            const hours = HOURLY.find((each) => String(each) === event.currentTarget.value)
            if (hours) onChange({ ...plan, hours })
          }}
        />
        <Whole
          label="Minutes past the hour"
          low={0}
          high={59}
          value={plan.minute}
          onChange={(minute) => onChange({ ...plan, minute })}
        />
      </Group>
    )
  }
  const time = (
    <TextInput
      type="time"
      label="At"
      withAsterisk
      error={cronOf({ every: 'day', at: plan.at }) === null ? 'Enter a time.' : undefined}
      value={plan.at}
      onChange={(event) => onChange({ ...plan, at: event.currentTarget.value })}
    />
  )
  if (plan.every === 'month') {
    return (
      <Group grow align="flex-start">
        <Whole
          label="Day of the month"
          low={1}
          high={31}
          value={plan.day}
          note={plan.day > 28 ? 'Skipped in months without this day.' : undefined}
          onChange={(day) => onChange({ ...plan, day })}
        />
        {time}
      </Group>
    )
  }
  return (
    <>
      {plan.every === 'chosen' && (
        <Stack gap={4} role="group" aria-label="Days of the week">
          <Chip.Group multiple value={[...plan.on]} onChange={(on) => onChange({ ...plan, on: on as Weekday[] })}>
            <Group gap="xs">
              {WEEKDAYS.map((day) => (
                <Chip key={day} value={day} size="sm">
                  {DAY_NAMES[day]}
                </Chip>
              ))}
            </Group>
          </Chip.Group>
          {plan.on.length === 0 && (
            <Text size="sm" c="var(--mantine-color-error)">
              Choose at least one day.
            </Text>
          )}
        </Stack>
      )}
      {time}
    </>
  )
}

function Whole(props: {
  label: string
  low: number
  high: number
  value: number
  note?: string | undefined
  onChange: (value: number) => void
}) {
  const { label, low, high, value, note, onChange } = props
  const isValid = Number.isInteger(value) && value >= low && value <= high
  return (
    <NumberInput
      label={label}
      min={low}
      max={high}
      allowDecimal={false}
      withAsterisk
      value={Number.isNaN(value) ? '' : value}
      error={isValid ? undefined : `Enter a number from ${low} to ${high}.`}
      description={note}
      inputWrapperOrder={['label', 'input', 'description', 'error']}
      onChange={(next) => onChange(typeof next === 'number' ? next : Number.NaN)}
    />
  )
}

/** Another kind of plan, which keeps the time of the day. */
function withKind(plan: SimplePlan, every: SimplePlan['every']): SimplePlan {
  const at = plan.every === 'hours' ? '09:00' : plan.at
  if (every === 'hours') return { every, hours: 4, minute: 0 }
  if (every === 'month') return { every, day: 1, at }
  if (every === 'chosen') return { every, on: ['mon'], at }
  return { every, at }
}
