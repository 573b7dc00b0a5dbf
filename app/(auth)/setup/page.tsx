import type { Metadata } from 'next'
import { headers } from 'next/headers'
import { notFound } from 'next/navigation'
import { database } from '@/server/database'
import { AppError } from '@/server/errors'
import { getSetupState, type SetupState } from '@/server/tenants/setup/state'
import styles from '../words.module.css'
import { SetupForm } from './setup-form'

export const metadata: Metadata = { title: 'Set up' }

export default async function SetupPage() {
  const state = await readState()
  if (!state) notFound()
  return (
    <>
      <h1 className={styles.title}>Welcome. Create the owner account.</h1>
      <p className={styles.lead}>One step, and you are in your workspace.</p>
      <SetupForm {...state} />
    </>
  )
}

async function readState(): Promise<SetupState | null> {
  try {
    return await getSetupState({ db: database().db, headers: await headers() })
  } catch (err) {
    if (err instanceof AppError && err.code === 'NOT_FOUND') return null
    throw err
  }
}
