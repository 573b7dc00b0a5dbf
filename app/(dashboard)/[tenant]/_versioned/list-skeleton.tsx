import { Skeleton } from '@mantine/core'
import styles from './list.module.css'

const ROWS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']

/** Placeholder rows of the same height as the real ones. */
export function ListSkeleton() {
  return (
    <div role="status" aria-label="Loading" className={styles.skeleton}>
      {ROWS.map((row) => (
        <Skeleton key={row} height={44} radius="sm" />
      ))}
    </div>
  )
}
