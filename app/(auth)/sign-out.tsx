'use client'
import { Button } from '@mantine/core'
import { endSession } from './auth-client'

/** Ends the session, then leaves with a whole page load: nothing of it stays in memory. */
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
