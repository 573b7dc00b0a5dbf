import { PasswordInput } from '@mantine/core'

/** A field for a new password that states the server's requirements beforehand. */
export function NewPassword({ label, error }: { label: string; error: string | undefined }) {
  return (
    <PasswordInput
      label={label}
      description="12 characters or more"
      name="password"
      autoComplete="new-password"
      minLength={12}
      required
      withAsterisk={false}
      error={error}
      visibilityToggleButtonProps={{ 'aria-label': 'Show password', tabIndex: 0 }}
    />
  )
}
