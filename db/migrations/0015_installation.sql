CREATE TABLE "installation" (
	"id" boolean PRIMARY KEY DEFAULT true NOT NULL,
	"deployment" text,
	"key_check" text,
	"file_store" text,
	"registration" jsonb,
	"called_at" timestamp (3) with time zone
);
