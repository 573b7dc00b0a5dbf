'use client'
import { Autocomplete } from '@mantine/core'
import { useSecretNames } from './use-secret-names'

/** A reference to a secret: chosen from the vault by members who may see its names, otherwise typed. */
export function SecretInput(props: {
  label: string
  description?: string
  value: string
  onChange: (value: string) => void
  error: string | null
  readOnly: boolean
}) {
  const { label, description, value, onChange, error, readOnly } = props
  const names = useSecretNames()
  return (
    <Autocomplete
      label={label}
      description={description}
      placeholder={readOnly ? 'None' : '${secrets.NAME}'}
      data={names.map((name) => `\${secrets.${name}}`)}
      value={value}
      readOnly={readOnly}
      onChange={onChange}
      error={error}
    />
  )
}
