'use client'
import { signOut as endSession } from 'next-auth/react'

/** Ends the session here and on the server, and goes to the sign-in page. */
export async function signOut(): Promise<void> {
  await endSession({ callbackUrl: '/sign-in' })
}
