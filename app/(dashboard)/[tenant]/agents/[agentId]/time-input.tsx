import { TextInput } from '@mantine/core'
import { IsoDurationInput } from '@/app/_ui/duration-input'
import { readIso } from '@/app/_ui/iso-duration'

/** A duration as a number and a unit, or as text if it is anything else. */
export function TimeInput(props: {
  id: string
  label: string
  help: string
  value: string | undefined
  onChange: (next: string | undefined) => void
  problem: string | null
  readOnly: boolean
}) {
  const { label, help, value, onChange, problem, readOnly } = props
  if (value === undefined || readIso(value) !== null) return <IsoDurationInput {...props} />
  return (
    <TextInput
      label={label}
      description={help}
      value={value}
      error={problem}
      readOnly={readOnly}
      onChange={(event) => onChange(event.currentTarget.value || undefined)}
    />
  )
}
