import { CircleAlert, CircleCheck, CircleX } from 'lucide-react'
import type { Metadata } from 'next'
import { now } from '@/server/clock'
import { checkHealth, type Health } from '@/server/host/health'
import styles from '../help.module.css'

export const metadata: Metadata = { title: 'Health', description: 'Whether the service works.' }

const STATES: Record<Health['status'], { title: string; text: string; icon: typeof CircleCheck }> = {
  ok: { title: 'The service works', text: 'Requests are answered, and runs are executed.', icon: CircleCheck },
  degraded: {
    title: 'Runs do not continue',
    text: 'The API works, but no worker is running. Nothing is lost: runs continue once one starts.',
    icon: CircleAlert,
  },
  unavailable: {
    title: 'The service does not work',
    text: 'Requests fail now. Acknowledged work is stored and continues when the service is back.',
    icon: CircleX,
  },
}

const CHECKS: Record<string, { name: string; ok: string; failed: string }> = {
  database: { name: 'Database', ok: 'Responds', failed: 'Does not respond' },
  engine: { name: 'Engine', ok: 'Executes runs', failed: 'Does not execute runs' },
}

/** `GET /api/health` for people. The page is public, so it shows nothing else. */
export default async function HealthPage() {
  const { status, checks } = await checkHealth()
  const { title, text, icon: Icon } = STATES[status]
  const at = now().toISOString()
  return (
    <>
      <h1 className={styles.state} data-status={status}>
        <Icon size={28} aria-hidden />
        {title}
      </h1>
      <p className={styles.quiet}>{text}</p>
      <dl className={styles.checks}>
        {Object.entries(checks).map(([id, result]) => (
          <div key={id} className={styles.check}>
            <dt>{CHECKS[id]?.name ?? id}</dt>
            <dd className={result === 'ok' ? styles.good : styles.bad}>{CHECKS[id]?.[result] ?? result}</dd>
          </div>
        ))}
      </dl>
      <p className={styles.quiet}>
        Checked at <time dateTime={at}>{at.slice(11, 19)} UTC</time>. <a href="/health">Check again</a>
      </p>
      <h2>More</h2>
      <p>
        Programs ask <a href="/api/health">GET /api/health</a>. If you run the service,{' '}
        <code>npm run -s admin -- doctor</code> says what is wrong and how to fix it.
      </p>
    </>
  )
}
