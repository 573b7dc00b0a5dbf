'use client'
import { Button, PasswordInput, TextInput } from '@mantine/core'
import { useMounted } from '@mantine/hooks'
import { type FormEvent, useState } from 'react'
import { NO_PROBLEM } from '../api'
import { signInWithPassword } from '../auth-client'
import { Problem } from '../problem'
import { Providers } from '../providers'
import styles from '../words.module.css'
import { signInProblem } from './sign-in-problem'

export function SignInForm({
  next,
  error,
  providers,
}: {
  next: string
  error: string | null
  providers: { id: string; name: string }[]
}) {
  const [problem, setProblem] = useState(error === null ? NO_PROBLEM : signInProblem(error))
  const [busy, setBusy] = useState(false)
  const mounted = useMounted()

  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    setBusy(true)
    setProblem(NO_PROBLEM)
    const outcome = await signInWithPassword(String(form.get('email')), String(form.get('password'))).catch(() => null)
    if (outcome?.ok) return window.location.assign(next)
    setBusy(false)
    setProblem(signInProblem(outcome === null ? 'Unreachable' : (outcome.error ?? 'Unavailable')))
  }

  return (
    <>
      <form className={styles.form} method="post" onSubmit={submit}>
        <Problem problem={problem} />
        <TextInput label="Email" name="email" type="email" autoComplete="username" required withAsterisk={false} />
        <PasswordInput
          label="Password"
          name="password"
          autoComplete="current-password"
          required
          withAsterisk={false}
          visibilityToggleButtonProps={{ 'aria-label': 'Show password', tabIndex: 0 }}
        />
        <Button type="submit" size="md" loading={busy} disabled={!mounted}>
          Sign in
        </Button>
      </form>
      <Providers providers={providers} next={next} />
    </>
  )
}
