'use client'
import { Link } from '@/app/_ui/link'
import { useTenant } from '../tenant-context'
import styles from './workflow-tabs.module.css'

const TABS = {
  editor: 'Editor',
  runs: 'Runs',
  insights: 'Insights',
  versions: 'Versions',
  settings: 'Settings',
} as const
export type WorkflowTab = keyof typeof TABS

export function WorkflowTabs({ id, here }: { id: string; here: WorkflowTab }) {
  const { path } = useTenant()
  const base = path(`/workflows/${encodeURIComponent(id)}`)
  return (
    <nav aria-label="This workflow" className={styles.nav}>
      <ul className={styles.tabs}>
        {Object.entries(TABS).map(([name, label]) => (
          <li key={name}>
            <Link
              href={name === 'editor' ? base : `${base}/${name}`}
              className={styles.tab}
              aria-current={name === here ? 'page' : undefined}
            >
              {label}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  )
}
