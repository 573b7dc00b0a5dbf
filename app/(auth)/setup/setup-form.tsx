'use client'
import { Button, Checkbox, PasswordInput, TextInput } from '@mantine/core'
import { useMounted } from '@mantine/hooks'
import { type FormEvent, useEffect, useRef, useState } from 'react'
import type { SetupState } from '@/server/tenants/setup/state'
import { call, NO_PROBLEM, problemOf } from '../api'
import { signInWithPassword } from '../auth-client'
import { NewPassword } from '../new-password'
import { Problem } from '../problem'
import styles from '../words.module.css'
import { useSlugPreview } from './use-slug-preview'

export function SetupForm({ tokenRequired, hasSamples }: SetupState) {
  const [problem, setProblem] = useState(NO_PROBLEM)
  const [busy, setBusy] = useState(false)
  const [workspace, setWorkspace] = useState('')
  const slug = useSlugPreview(workspace)
  const mounted = useMounted()
  const form = useRef<HTMLFormElement>(null)
  useEffect(() => {
    const [first] = Object.keys(problem.fields)
    if (first) form.current?.querySelector<HTMLInputElement>(`[name="${first}"]`)?.focus()
  }, [problem])

  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    const values = new FormData(event.currentTarget)
    const text = (name: string) => String(values.get(name) ?? '')
    setBusy(true)
    setProblem(NO_PROBLEM)
    try {
      const made = await call('setup', {
        name: text('name'),
        email: text('email'),
        password: text('password'),
        workspace: text('workspace'),
        samples: values.has('samples'),
        ...(tokenRequired ? { token: text('token') } : {}),
      })
      const signedIn = await signInWithPassword(made.email, text('password')).catch(() => null)
      window.location.assign(signedIn?.ok ? `/${made.slug}?welcome=1` : '/sign-in')
    } catch (error) {
      setBusy(false)
      setProblem(problemOf(error))
    }
  }

  const { fields } = problem
  return (
    <form ref={form} className={styles.form} method="post" onSubmit={submit}>
      <Problem problem={problem} />
      <TextInput label="Your name" name="name" autoComplete="name" required withAsterisk={false} error={fields.name} />
      <TextInput
        label="Email"
        name="email"
        type="email"
        autoComplete="username"
        required
        withAsterisk={false}
        error={fields.email}
      />
      <NewPassword label="Password" error={fields.password} />
      <TextInput
        label="Workspace name"
        description={slug === null ? 'Your team or your company' : `In addresses: /${slug}`}
        name="workspace"
        autoComplete="organization"
        required
        withAsterisk={false}
        error={fields.workspace}
        onChange={(event) => setWorkspace(event.currentTarget.value)}
      />
      {tokenRequired && (
        <PasswordInput
          label="Setup token"
          description="Printed in the terminal where the service was started. Needed because you are on another machine"
          name="token"
          autoComplete="off"
          required
          withAsterisk={false}
          error={fields.token}
          visibilityToggleButtonProps={{ 'aria-label': 'Show setup token', tabIndex: 0 }}
        />
      )}
      <Checkbox
        name="samples"
        defaultChecked
        label={hasSamples ? 'Keep the sample workflows, agents and tools' : 'Add sample workflows, agents and tools'}
      />
      <Button type="submit" size="md" loading={busy} disabled={!mounted}>
        Create workspace
      </Button>
    </form>
  )
}
