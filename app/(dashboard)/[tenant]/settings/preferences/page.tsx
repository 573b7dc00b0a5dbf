import type { Metadata } from 'next'
import { PreferencesForm } from './preferences-form'

export const metadata: Metadata = { title: 'Preferences' }

export default function PreferencesPage() {
  return <PreferencesForm />
}
