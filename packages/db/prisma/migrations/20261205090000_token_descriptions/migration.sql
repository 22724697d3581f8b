-- What a token is for, in the words of who made it.
ALTER TABLE personal_access_tokens ADD COLUMN description text;
