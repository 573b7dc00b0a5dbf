ALTER TABLE "start_links" ADD COLUMN "deleted_forms" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "start_links" ADD COLUMN "forms_deleted_at" timestamp (3) with time zone;
