'use client'
import { Button, PasswordInput, Stack } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { errorOf, useTRPC } from '@/app/_trpc/client'
import { ErrorState } from '@/app/_ui/error-state'
import { notifyDone } from '@/app/_ui/notify'
import { underField } from '@/app/_ui/sentence'

export function PasswordForm({ email }: { email: string }) {
  const trpc = useTRPC()
  const queries = useQueryClient()
  const [current, setCurrent] = useState('')
  const [password, setPassword] = useState('')
  const change = useMutation(
    trpc.account.changePassword.mutationOptions({
      onSuccess: () => {
        setCurrent('')
        setPassword('')
        notifyDone('Your password was changed. Other browsers were signed out.')
        return queries.invalidateQueries(trpc.account.pathFilter())
      },
    }),
  )
  const details = change.error ? errorOf(change.error).details : []
  const problemOf = (path: string) => underField(details.find((detail) => detail.path === path)?.message ?? '') || null
  const shown = (text: string | null) => (text === null ? null : `${text[0]?.toUpperCase()}${text.slice(1)}`)
  function submit(event: FormEvent) {
    event.preventDefault()
    change.mutate({ current, password })
  }
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="sm" align="flex-start" maw="24rem">
        {/* Identifies the account for password managers. */}
        <input type="text" name="username" autoComplete="username" value={email} readOnly hidden />
        <PasswordInput
          w="100%"
          label="Current password"
          autoComplete="current-password"
          value={current}
          error={shown(problemOf('current'))}
          onChange={(event) => setCurrent(event.currentTarget.value)}
          visibilityToggleButtonProps={{ 'aria-label': 'Show the current password', tabIndex: 0 }}
        />
        <PasswordInput
          w="100%"
          label="New password"
          description="At least 12 characters"
          autoComplete="new-password"
          value={password}
          error={shown(problemOf('password'))}
          onChange={(event) => setPassword(event.currentTarget.value)}
          visibilityToggleButtonProps={{ 'aria-label': 'Show the new password', tabIndex: 0 }}
        />
        {change.error && details.length === 0 && (
          <ErrorState error={change.error} title="Your password was not changed" />
        )}
        <Button type="submit" loading={change.isPending} disabled={current === '' || password === ''}>
          Change password
        </Button>
      </Stack>
    </form>
  )
}
