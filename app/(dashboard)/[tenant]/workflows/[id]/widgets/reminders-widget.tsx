'use client'
import { NumberInput } from '@mantine/core'
import type { JsonValue } from '@/server/definition/json'
import { MAX_REMINDERS, REMINDERS } from '@/server/definition/reminder'
import { isObject } from '../model/json-text'
import { problemUnderField } from '../model/problem-words'
import { FieldFrame } from './field-frame'
import { IsoDurationWidget } from './iso-duration-widget'
import { AssigneesWidget } from './people-widgets'
import { fieldElementId, type WidgetProps } from './widget'

type Part = 'after' | 'every' | 'times' | 'handTo'

interface PartHint {
  widget: 'iso-duration' | 'assignees'
  label: string
  placeholder?: string
  help?: string
}

const PARTS: Record<Exclude<Part, 'times'>, PartHint> = {
  after: { widget: 'iso-duration', label: 'Remind after', placeholder: 'P1D' },
  every: { widget: 'iso-duration', label: 'Again every', placeholder: 'P1D', help: 'Empty for one reminder.' },
  handTo: {
    widget: 'assignees',
    label: 'Then give it to',
    placeholder: 'Name, email, group or role',
    help: 'They answer instead, one interval after the last reminder.',
  },
}

/** When people are reminded of a task, how often, and who gets it if they still do not answer. */
export function RemindersWidget(props: WidgetProps) {
  const { field, value, onChange, problems, readOnly } = props
  const reminders = isObject(value) ? value : {}
  const set = (part: Part, next: JsonValue | undefined) => {
    const { [part]: _old, ...rest } = reminders
    const changed = next === undefined ? rest : { ...rest, [part]: next }
    onChange(Object.keys(changed).length === 0 ? undefined : changed)
  }
  const problemAt = (path: string) => {
    const here = problems.filter((one) => one.field === path || one.field?.startsWith(`${path}[`))
    return here.length === 0 ? null : here.map(({ message }) => problemUnderField(message)).join(' ')
  }
  const part = (name: keyof typeof PARTS): WidgetProps => {
    const path = `${field.name}.${name}`
    return {
      ...props,
      field: { ...PARTS[name], name: path, required: false },
      value: reminders[name],
      problem: problemAt(path),
      problems: problems.filter((one) => one.field?.startsWith(path)),
      onChange: (next) => set(name, next),
    }
  }
  const timesPath = `${field.name}.times`
  return (
    <FieldFrame field={field} problem={problemAt(field.name)} gap="sm">
      <IsoDurationWidget {...part('after')} />
      {Object.keys(reminders).length > 0 && (
        <>
          <IsoDurationWidget {...part('every')} />
          {(reminders.every !== undefined || reminders.times !== undefined) && (
            <NumberInput
              id={fieldElementId(timesPath)}
              label="Number of reminders"
              placeholder={String(REMINDERS)}
              min={1}
              max={MAX_REMINDERS}
              allowDecimal={false}
              clampBehavior="none"
              value={typeof reminders.times === 'number' ? reminders.times : ''}
              onChange={(next) => set('times', typeof next === 'number' ? next : undefined)}
              error={problemAt(timesPath)}
              readOnly={readOnly}
            />
          )}
          <AssigneesWidget {...part('handTo')} />
        </>
      )}
    </FieldFrame>
  )
}
