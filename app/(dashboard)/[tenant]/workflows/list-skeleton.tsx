import { Skeleton } from '@mantine/core'
import styles from './list.module.css'

const ROWS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']

export function ListSkeleton() {
  return (
    <div aria-busy="true">
      <span className="visually-hidden">Loading</span>
      <div className={styles.controls}>
        <Skeleton height={36} width={260} radius="md" />
        <Skeleton height={36} width={280} radius="md" />
      </div>
      <div className={styles.bones}>
        {ROWS.map((row) => (
          <div key={row} className={styles.bone}>
            <Skeleton height={14} width="28%" radius="sm" />
            <Skeleton height={10} width="46%" radius="sm" />
          </div>
        ))}
      </div>
    </div>
  )
}
