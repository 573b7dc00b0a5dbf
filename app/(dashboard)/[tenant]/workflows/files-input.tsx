import { FileInput, type FileInputProps } from '@mantine/core'
import { Paperclip } from 'lucide-react'
import { isFileList } from '@/server/definition/file-fields'
import type { Field } from '@/server/definition/schema'

/** The picker of a field that takes a file, or several. */
export function FilesInput({
  field,
  kept = false,
  value,
  onChange,
  ...props
}: Omit<FileInputProps, 'value' | 'defaultValue' | 'onChange' | 'multiple'> & {
  field: Field
  /** The field has a file already. */
  kept?: boolean
  value: File[]
  onChange: (files: File[]) => void
}) {
  const shared = {
    ...props,
    leftSection: <Paperclip size={16} aria-hidden />,
    clearable: true,
  }
  const label = String(props.label)
  return isFileList(field) ? (
    <FileInput
      {...shared}
      multiple
      placeholder={kept ? 'Choose other files' : 'Choose files'}
      clearButtonProps={{ 'aria-label': `Remove the files of ${label}` }}
      value={value}
      onChange={onChange}
    />
  ) : (
    <FileInput
      {...shared}
      placeholder={kept ? 'Choose another file' : 'Choose a file'}
      clearButtonProps={{ 'aria-label': `Remove the file of ${label}` }}
      value={value[0] ?? null}
      onChange={(file) => onChange(file ? [file] : [])}
    />
  )
}
