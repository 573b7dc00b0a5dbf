'use client'
import { Button } from '@mantine/core'
import { endSession } from './auth-client'

/** Ends the session, then leaves with a full page load so that no data stays in memory. */
export async function signOut(): Promise<void> {
  try {
    await endSession()
  } finally {
    window.location.assign('/sign-in')
  }
}

export function SignOutButton() {
  return (
    <Button variant="default" onClick={() => void signOut()}>
      Sign out
    </Button>
  )
}
