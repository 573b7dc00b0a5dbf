import { NativeSelect } from '@mantine/core'
import { roleName } from '@/app/_ui/role-name'
import type { Role } from '@/server/roles'

/** Chooses a role. Its permissions stand below, because a phone would cut them off in the field. */
export function RoleField(props: {
  label: string
  choices: Role[]
  description: string | undefined
  value: Role
  onChange: (role: Role) => void
  disabled?: boolean | undefined
}) {
  const { label, choices, description, value, onChange, disabled } = props
  return (
    <NativeSelect
      label={label}
      data={choices.map((role) => ({ value: role, label: roleName(role) }))}
      description={description}
      inputWrapperOrder={['label', 'input', 'description', 'error']}
      value={value}
      disabled={disabled ?? false}
      onChange={(event) => onChange(event.currentTarget.value as Role)}
    />
  )
}
