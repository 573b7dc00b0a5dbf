'use client'
import { Button, TextInput } from '@mantine/core'
import { useMounted } from '@mantine/hooks'
import { type FormEvent, useState } from 'react'
import { call, NO_PROBLEM, problemOf } from '../../api'
import { signInWithPassword } from '../../auth-client'
import { NewPassword } from '../../new-password'
import { Problem } from '../../problem'
import { Providers } from '../../providers'
import { SignOutButton } from '../../sign-out'
import styles from '../../words.module.css'

interface Props {
  token: string
  email: string
  /** An account with this email exists. */
  known: boolean
  /** That account has a password which another person may know. */
  needsPassword: boolean
  signedInAs: string | null
  providers: { id: string; name: string }[]
}

/** The entrance knows where in the workspace the new member lands. */
const enter = (slug: string) => window.location.assign(`/?workspace=${encodeURIComponent(slug)}`)

/** The remaining steps to accept the invitation; they depend on who is signed in. */
export function AcceptForm({ token, email, known, needsPassword, signedInAs, providers }: Props) {
  const here = `/invite/${token}`
  if (signedInAs === email)
    return needsPassword ? <NewPasswordForm token={token} email={email} /> : <AcceptButton token={token} />
  if (signedInAs !== null) {
    return (
      <div className={styles.form}>
        <p className={styles.lead}>You are signed in as {signedInAs}. Sign out and open the link again to accept it.</p>
        <SignOutButton />
      </div>
    )
  }
  if (known) {
    return (
      <div className={styles.form}>
        <Button component="a" href={`/sign-in?next=${encodeURIComponent(here)}`} size="md">
          Sign in to accept
        </Button>
        {needsPassword && (
          <p className={styles.lead}>
            Someone chose a password for this address with an earlier invitation. If that was not you,{' '}
            {providers.length > 0
              ? 'sign in with one of these instead'
              : 'ask the people who run this service to add you'}
            .
          </p>
        )}
        {needsPassword && <Providers providers={providers} next={here} />}
      </div>
    )
  }
  return (
    <>
      <NewPersonForm token={token} email={email} />
      <Providers providers={providers} next={here} />
    </>
  )
}

function AcceptButton({ token }: { token: string }) {
  const [problem, setProblem] = useState(NO_PROBLEM)
  const [busy, setBusy] = useState(false)
  const mounted = useMounted()

  async function accept() {
    setBusy(true)
    try {
      const { slug } = await call('acceptInvitation', { token })
      enter(slug)
    } catch (error) {
      setBusy(false)
      setProblem(problemOf(error))
    }
  }

  return (
    <div className={styles.form}>
      <Problem problem={problem} />
      <Button size="md" loading={busy} disabled={!mounted} onClick={accept}>
        Accept invitation
      </Button>
    </div>
  )
}

/** An earlier inviter may know this account's password, so it must change before it opens another workspace. */
function NewPasswordForm({ token, email }: { token: string; email: string }) {
  const [problem, setProblem] = useState(NO_PROBLEM)
  const [busy, setBusy] = useState(false)
  const mounted = useMounted()

  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    const password = String(new FormData(event.currentTarget).get('password'))
    setBusy(true)
    setProblem(NO_PROBLEM)
    try {
      const { slug } = await call('acceptInvitation', { token, password })
      enter(slug)
    } catch (error) {
      setBusy(false)
      setProblem(problemOf(error))
    }
  }

  return (
    <form className={styles.form} method="post" onSubmit={submit}>
      <p className={styles.lead}>
        Choose a new password. The person who invited you may know your present one. Your other browsers are signed out.
      </p>
      <Problem problem={problem} />
      <input type="hidden" name="email" value={email} autoComplete="username" />
      <NewPassword label="New password" error={problem.fields.password} />
      <Button type="submit" size="md" loading={busy} disabled={!mounted}>
        Accept invitation
      </Button>
    </form>
  )
}

function NewPersonForm({ token, email }: { token: string; email: string }) {
  const [problem, setProblem] = useState(NO_PROBLEM)
  const [busy, setBusy] = useState(false)
  const mounted = useMounted()

  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    const values = new FormData(event.currentTarget)
    const person = { name: String(values.get('name')), password: String(values.get('password')) }
    setBusy(true)
    setProblem(NO_PROBLEM)
    try {
      const { slug } = await call('acceptInvitation', { token, person })
      const signedIn = await signInWithPassword(email, person.password).catch(() => null)
      if (signedIn?.ok) enter(slug)
      else window.location.assign('/sign-in')
    } catch (error) {
      setBusy(false)
      setProblem(problemOf(error))
    }
  }

  const { fields } = problem
  return (
    <form className={styles.form} method="post" onSubmit={submit}>
      <Problem problem={problem} />
      {/* Lets password managers save the email with the password. */}
      <input type="hidden" name="email" value={email} autoComplete="username" />
      <TextInput label="Your name" name="name" autoComplete="name" required withAsterisk={false} error={fields.name} />
      <NewPassword label="Password" error={fields.password} />
      <Button type="submit" size="md" loading={busy} disabled={!mounted}>
        Accept invitation
      </Button>
    </form>
  )
}
